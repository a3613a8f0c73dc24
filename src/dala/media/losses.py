"""What an output cannot hold is said in one line, once; asked to be strict, it is an error.

Pictures and videos find out for themselves what they lose (16 bits in a JPEG, alpha in an mp4) and say it
through ``report_losses``. In Python it is a warning; a program with a screen of its own passes ``tell``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

from dala.errors import LossError, LossWarning


def report_losses(
    target: object,
    losses: Sequence[str],
    *,
    strict: bool = False,
    tell: Callable[[str], None] | None = None,
) -> None:
    """Say what ``target`` cannot hold: ``"16 bits (8 are kept)"``, ``"alpha (laid on black)"``.

    >>> from dala.media.losses import report_losses
    >>> report_losses("out.jpg", ["16 bits (8 are kept)", "alpha (laid on black)"], tell=print)
    out.jpg does not hold 16 bits (8 are kept), alpha (laid on black)
    >>> report_losses("out.png", [], strict=True)
    """
    if not losses:
        return
    line = f"{target} does not hold {', '.join(losses)}"
    if strict:
        raise LossError(line)
    if tell is None:
        warnings.warn(line, LossWarning, stacklevel=3)
    else:
        tell(line)
