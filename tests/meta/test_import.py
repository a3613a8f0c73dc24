"""``import dala`` is light, and the first kernel needs little. Seen in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

HEAVY = ("llvmlite", "wgpu", "PIL", "rendercanvas", "glfw", "av", "uharfbuzz", "onnxruntime")

IMPORT = """
    import json, sys
    import numpy
    before = sorted(sys.modules)
    import dala
    after_dala = sorted(sys.modules)
    from dala import compute
    after_compute = sorted(sys.modules)
    from dala import text
    after_text = sorted(sys.modules)
    from dala import gpu
    after_gpu = sorted(sys.modules)
    from dala import media
    after_media = sorted(sys.modules)
    from dala import video
    print(json.dumps({
        "before": before,
        "after_dala": after_dala,
        "after_compute": after_compute,
        "after_text": after_text,
        "after_gpu": after_gpu,
        "after_media": after_media,
        "after_video": sorted(sys.modules),
    }))
"""
FIRST_KERNEL = """
    import json, sys
    import numpy
    import dala
    from dala import compute
    from dala.backends.cpu.llvm import jit
    texts, make = [], jit.Module.__init__

    def noted(module, text, *args, **named):
        texts.append(text)
        make(module, text, *args, **named)

    jit.Module.__init__ = noted
    dala.use("cpu")
    image = compute.from_array(numpy.full((64, 64, 4), 100, numpy.uint8))
    compute.run_kernel("invert", [image], image)
    assert image.read()[0, 0].tolist() == [155, 155, 155, 100]
    print(json.dumps({"lines": [len(t.splitlines()) for t in texts], "modules": sorted(sys.modules)}))
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the byte code is; a first run of each script has written it."""
    folder = tmp_path_factory.mktemp("bytecode")
    run(IMPORT, folder)
    run(FIRST_KERNEL, folder)
    return folder


def run(script: str, bytecode: Path) -> Any:
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = str(bytecode)
    env.pop("DALA_DEVICE", None)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_import_loads_nothing_heavy(compiled: Path) -> None:
    seen = run(IMPORT, compiled)
    for stage in (
        "after_dala",
        "after_compute",
        "after_text",
        "after_gpu",
        "after_media",
        "after_video",
    ):
        packages = {name.split(".")[0] for name in seen[stage]}
        assert not packages & set(HEAVY), stage
    assert "dala.compute" not in seen["after_dala"]  # loaded on first use
    assert "dala.compute" in seen["after_compute"]
    assert "dala.gpu" not in seen["after_compute"]
    assert "dala.gpu" in seen["after_gpu"]
    assert "dala.media" not in seen["after_gpu"]
    assert "dala.media" in seen["after_media"]
    assert "dala.video" not in seen["after_media"]
    assert "dala.video" in seen["after_video"]


def test_import_brings_little(compiled: Path) -> None:
    """What an import costs is what it loads."""
    seen = run(IMPORT, compiled)
    brought = {
        stage: set(seen[stage]) - set(seen["before"]) for stage in ("after_dala", "after_compute")
    }
    ours = {k: sorted(n for n in v if n.startswith("dala")) for k, v in brought.items()}
    others = {k: sorted(v - set(ours[k])) for k, v in brought.items()}
    assert len(ours["after_dala"]) <= 5 and len(ours["after_compute"]) <= 110, ours
    assert len(others["after_dala"]) <= 10 and len(others["after_compute"]) <= 120, others
    strangers = {n.split(".")[0] for n in others["after_compute"]} - sys.stdlib_module_names
    assert strangers <= {"numpy"}  # a part of it that came with nothing else yet


def test_the_first_kernel_compiles_one_pass(compiled: Path) -> None:
    """Beside llvmlite it loads nothing heavy, and LLVM gets one short text."""
    seen = run(FIRST_KERNEL, compiled)
    packages = {name.split(".")[0] for name in seen["modules"]}
    assert packages & set(HEAVY) == {"llvmlite"}
    assert len(seen["lines"]) == 1
    assert seen["lines"][0] < 200
