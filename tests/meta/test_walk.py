"""``design/walk.md`` names all files that a first kernel call enters, its steps in their order."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from processes import run_to_the_end

ROOT = Path(__file__).parents[2]
WALK = (ROOT / "design" / "walk.md").read_text(encoding="utf-8")
SOURCE = ROOT / "src" / "dala"
FOLDERS = [
    "", "backends/cpu/arithmetic/", "backends/cpu/schedule/", "backends/cpu/emit/", "backends/cpu/llvm/",
]  # fmt: skip
MOST = 85  # files; a call that needs more has lost its way

CALL = """
import json, sys
from pathlib import Path
import numpy as np
import dala
from dala import compute
from dala.backends.cpu.device import CpuDevice
from dala.compute import default
from dala.compute.engine import Engine
from machines import machine_with

default._default = Engine(CpuDevice(machine_with(int(sys.argv[1]))))
photo = compute.from_array(np.zeros((64, 64, 4), np.uint8))
out = compute.buffer_zeros(photo.shape, "u8")
root = Path(dala.__file__).parent
entered = {}

def enter(frame, event, _):
    if event == "call":
        entered.setdefault(frame.f_code.co_filename)

sys.setprofile(enter)
compute.run_kernel("brightness", [photo], out, {"value": 0.1})
sys.setprofile(None)
inside = [Path(name) for name in entered if Path(name).is_relative_to(root)]
print(json.dumps([path.relative_to(root).as_posix() for path in inside]))
"""


def resolve(name: str) -> set[str]:
    """The files that a name in the walk may mean: a path, or a name in a folder that its step is about."""
    return {folder + name for folder in FOLDERS if (SOURCE / folder / name).is_file()}


@pytest.mark.parametrize("vector_bytes", [64, 32])
def test_the_walk_is_what_a_call_does(vector_bytes: int) -> None:
    code, out, errors = run_to_the_end(CALL, str(vector_bytes))
    assert code == 0, errors
    entered = json.loads(out)
    steps = re.findall(r"\*\*`([\w/]+\.py)`\*\*", WALK)
    assert [name for name in entered if name in steps] == steps
    named = set().union(*map(resolve, re.findall(r"`([\w/]+\.py)`", WALK)))
    assert [name for name in entered if name not in named] == []
    assert len(entered) <= MOST


def test_every_file_of_the_walk_is_there() -> None:
    for name in re.findall(r"`([\w/]+\.py)`", WALK):
        assert resolve(name) or (ROOT / name).is_file(), name
