"""``python -m dala`` is the command ``dala``."""

from __future__ import annotations

import sys

from dala.cli import main

if __name__ == "__main__":
    sys.exit(main())
