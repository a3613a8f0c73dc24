"""``python -m dala doctor``: what dala finds on this machine, and what is missing."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Run a command; the exit status."""
    if list(arguments) != ["doctor"]:
        print("usage: python -m dala doctor", file=sys.stderr)
        return 2
    from dala.backends.auto import choose_auto
    from dala.backends.webgpu.doctor import report

    print(report(choose_auto()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
