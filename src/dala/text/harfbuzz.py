"""HarfBuzz, loaded on first use."""

from __future__ import annotations

from typing import Any

from dala.errors import UnsupportedError
from dala.once import once


@once
def harfbuzz() -> Any:
    """The module ``uharfbuzz``."""
    try:
        import uharfbuzz
    except ImportError as error:
        raise UnsupportedError(
            "text is shaped with uharfbuzz, which is not installed (pip install 'dala-gpu[text]')"
        ) from error
    return uharfbuzz
