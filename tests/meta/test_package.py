"""What is published: one version everywhere, a changelog, a workflow that says what .ci/run says."""

from __future__ import annotations

import datetime
import importlib.util
import re
import shutil
from pathlib import Path
from types import ModuleType

import pytest

import dala

ROOT = Path(__file__).parents[2]
CI = ROOT / ".github" / "workflows" / "ci.yml"


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_release_names_its_version_everywhere(tmp_path: Path) -> None:
    release = tool("release")
    for name in (*release.PLACES, "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    assert len(release.disagreements(tmp_path, "9.8.7")) == 3
    release.write(tmp_path, "9.8.7", datetime.date(2030, 1, 2))
    assert release.disagreements(tmp_path, "9.8.7") == []
    log = (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]\n\n## [9.8.7] - 2030-01-02\n" in log
    with pytest.raises(SystemExit, match="already"):
        release.write(tmp_path, "9.8.7", datetime.date(2030, 1, 2))
    with pytest.raises(SystemExit, match="nothing stands under"):
        release.write(tmp_path, "9.8.8", datetime.date(2030, 1, 2))


def test_the_version_is_the_same_in_all_places() -> None:
    for name, pattern in tool("release").PLACES.items():
        found = pattern.search((ROOT / name).read_text(encoding="utf-8"))
        assert found is not None and found[0] == dala.__version__, name


def test_pythons_are_those_that_are_declared() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    declared = tuple(re.findall(r"Python :: (3\.\d+)\"", text))
    assert declared == tool("package").PYTHONS
    assert f'requires-python = ">={declared[0]}"' in text


def test_the_workflow_says_what_ci_says() -> None:
    """Linux runs .ci/run itself; elsewhere its steps are those of `make test`."""
    workflow, make = CI.read_text(encoding="utf-8"), (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "- run: .ci/run" in workflow
    for machine in ("ubuntu-24.04", "ubuntu-24.04-arm", "macos-", "windows-"):
        assert machine in workflow
    for command in ("ruff check .", "ruff format --check .", "mypy", "lint-imports"):
        assert command in workflow and f"$(BIN)/{command}" in make
    assert "pytest -n 2 --dist worksteal" in workflow
    assert "pytest -n $(WORKERS) --dist worksteal" in make and "WORKERS ?= 2" in make


def test_files_of_the_sdist_are_there() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(r"sdist\]\ninclude = \[(.*?)\]", text, re.DOTALL)
    assert listed is not None
    missing = [n for n in re.findall(r'"([^"]+)"', listed[1]) if not (ROOT / n).exists()]
    assert missing == []
