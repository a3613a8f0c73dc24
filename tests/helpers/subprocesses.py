"""Processes that find the same dala and the same packages as this one."""

from __future__ import annotations

import os
from pathlib import Path

import dala

SRC = Path(dala.__file__).parents[1]
HELPERS = Path(__file__).parent


def environment(**changes: str) -> dict[str, str]:
    """This process's environment, with dala's source and these helpers first on the path.

    A pytest that it runs is nobody's worker.
    """
    own = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    paths = [str(SRC), str(HELPERS), os.environ.get("PYTHONPATH", "")]
    return {**own, **changes, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
