"""dala is typed for its users: mypy and pyright accept code that runs, and find its mistakes."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"
CODE = HERE / "user_code.py"
MISTAKES = """
import numpy as np
from dala import compute, media

photo = np.zeros((8, 8, 3), np.uint8)
media.blur(photo, radius="three")
media.start_pipeline("wide", 480)
compute.no_such_function()
compute.pipeline().explain(1, 2, 3)
"""
LINES_WITH_MISTAKES = {6, 7, 8, 9}


def mypy(path: Path, cache: Path) -> tuple[int, str]:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir"]
    env = {**os.environ, "MYPYPATH": str(SOURCES)}
    done = subprocess.run(
        [*command, str(cache), "--config-file=", str(path)],
        capture_output=True, text=True, env=env, cwd=cache, timeout=600, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def pyright(path: Path, folder: Path) -> dict[str, Any]:
    pytest.importorskip("pyright")
    settings = {"extraPaths": [str(SOURCES)], "typeCheckingMode": "strict", "include": [path.name]}
    settings |= {"reportMissingTypeStubs": False, "reportPrivateUsage": False}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--project", str(folder)]
    command += ["--pythonpath", sys.executable]
    env = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, env=env, timeout=600, check=False
    )
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def user_code(name: str = "user_code") -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, CODE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.usefixtures("registry")
def test_the_code_runs(tmp_path: Path) -> None:
    code, picture = user_code(), np.full((24, 32, 3), 90, np.uint8)
    assert code.run_a_kernel(np.full((24, 32, 4), 90, np.uint8)).shape == (24, 32, 4)
    assert "blur" in code.run_a_pipeline(np.full((24, 32, 4), 90, np.uint8))
    assert code.filter_a_picture(picture).shape == picture.shape
    assert code.filter_frames(picture) == len(picture)
    assert len(code.draw(tmp_path / "a.png")) == 64 * 48 * 4
    assert "did you mean 'blur'" in code.name_the_mistake(picture)


def test_mypy_accepts_it_and_finds_mistakes(tmp_path: Path) -> None:
    code, said = mypy(CODE, tmp_path)
    assert code == 0, said
    wrong = tmp_path / "wrong.py"
    wrong.write_text(MISTAKES)
    code, said = mypy(wrong, tmp_path)
    lines = {int(line.split(":")[1]) for line in said.splitlines() if ": error:" in line}
    assert code == 1 and lines == LINES_WITH_MISTAKES, said


def test_pyright_accepts_it_and_finds_mistakes(tmp_path: Path) -> None:
    pytest.importorskip("pyright")
    right = tmp_path / "right.py"
    right.write_text(CODE.read_text(encoding="utf-8"), encoding="utf-8")
    found = pyright(right, tmp_path)
    assert found["summary"]["errorCount"] == 0, found["generalDiagnostics"]
    wrong = tmp_path / "wrong.py"
    wrong.write_text(MISTAKES)
    found = pyright(wrong, tmp_path)
    errors = [d for d in found["generalDiagnostics"] if d["severity"] == "error"]
    lines = {d["range"]["start"]["line"] + 1 for d in errors}
    assert lines == LINES_WITH_MISTAKES, errors
