"""Every public entry as the first thing in a fresh process, from four threads at once, on 16 cores.

Nothing is compiled, no device is chosen, no thread is started yet: all of that happens in four threads at
once. ``many.py`` beside this file repeats it, at full size and on a GPU.
"""

from __future__ import annotations

from pathlib import Path

import first_uses
import pytest
from clips import write_clip
from PIL import Image
from pretended import run_pretended

ON_A_GPU = ("blur", "resize", "bgr_chain", "frames", "pipeline", "run_kernel", "tensors",
            "run_to_surface", "video")  # fmt: skip


def begin(name: str, device: str) -> None:
    done = run_pretended(f"import first_uses; first_uses.try_first({name!r}, {device!r})")
    assert done.returncode == 0, done.stderr
    assert first_uses.unexpected(done.stderr) == ""


@pytest.mark.parametrize("name", [*first_uses.filter_names(), *first_uses.OTHERS])
def test_on_the_cpu(name: str) -> None:
    begin(name, "cpu")


@pytest.mark.webgpu
@pytest.mark.parametrize("name", ON_A_GPU)
def test_on_a_gpu(name: str) -> None:
    begin(name, "webgpu")


COMMANDS = {
    "filter a photo": ["filter", "photo.png", "out.png", "--blur", "2", "--sharpen"],
    "filter a video": ["filter", "clip.mp4", "out.mp4", "--look", "film"],
    "looks": ["looks"],
    "kernels": ["kernels"],
    "bench": ["bench", "--size", "64x64", "--blur", "2"],
    "demo": ["demo", "photo.png"],
    "info": ["info"],
    "doctor": ["doctor"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_on_the_command_line(command: str, tmp_path: Path) -> None:
    Image.fromarray(first_uses.photo(320, 200)).save(tmp_path / "photo.png")
    write_clip(tmp_path / "clip.mp4", frames=5)
    done = run_pretended(
        f"""
        import os
        os.chdir({str(tmp_path)!r})
        from dala.cli import demo, main
        demo.SIZE, demo.SECONDS = (320, 180), 1  # the same steps on fewer pixels
        raise SystemExit(main({COMMANDS[command]!r}))
        """,
        env={"DALA_DEVICE": "cpu", "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
