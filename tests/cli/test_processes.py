"""``dala`` as a process: how soon it answers, in a pipe, in a terminal, when it is told to stop."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from terminal import DALA, in_terminal, plain

from dala.cli.piped import is_picture

HEAVY = {"numpy", "wgpu", "av", "llvmlite", "PIL", "cv2", "rendercanvas", "glfw"}
posix = pytest.mark.skipif(os.name != "posix", reason="terminals and signals of Unix")


def run(*arguments: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*DALA, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, **(env or {})},
    )


MANY = 600  # far more than can be done before a signal that is sent at the first one arrives


def pictures(folder: Path, count: int, size: int) -> list[Path]:
    """So many files, which are one."""
    paths = [folder / f"picture_{n:02}.png" for n in range(count)]
    image = Image.effect_noise((size, size), 60).convert("RGB")
    image.save(paths[0], compress_level=0)
    for path in paths[1:]:
        os.link(paths[0], path)
    return paths


# -- quick ---------------------------------------------------------------------------------------------


def test_help_loads_nothing_heavy() -> None:
    script = """
        import sys
        from dala.cli import main
        code = main(["--help"])
        print(sorted({name.split(".")[0] for name in sys.modules}), code, file=sys.stderr)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )
    loaded = set(re.findall(r"'(\w+)'", done.stderr))
    assert "typer" in loaded
    assert not loaded & HEAVY
    assert done.stderr.strip().endswith("0")


@posix
def test_help_comes_soon() -> None:
    """By the time of the processor, which other work on the machine does not change much."""
    import resource

    def used() -> float:
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        return spent.ru_utime + spent.ru_stime

    seen = []
    for _ in range(4):
        before = used()
        assert run("--help").returncode == 0
        seen.append(used() - before)
    assert min(seen) < 0.3


# -- without the extra -----------------------------------------------------------------------------------


def without(package: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = f"""
        import sys
        sys.modules[{package!r}] = None
        from dala.cli import main
        sys.exit(main({list(arguments)!r}))
    """
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("package", ["typer", "rich", "PIL"])
def test_without_the_extra_one_line_says_what_to_install(package: str, tmp_path: Path) -> None:
    (picture,) = pictures(tmp_path, 1, 8)
    done = without(package, "filter", str(picture), str(tmp_path / "out.png"))
    assert done.returncode == 1
    assert done.stderr == f"dala: the command line needs {package}: pip install 'dala-gpu[cli]'\n"
    assert done.stdout == ""


@pytest.mark.parametrize("arguments", [(), ("--help",)])
def test_without_the_extra_the_bare_command_says_what_extras_add(
    arguments: tuple[str, ...],
) -> None:
    done = without("typer", *arguments)
    assert done.returncode == 1
    for extra in ("image", "webgpu", "video", "cli", "all"):
        assert f"pip install 'dala-gpu[{extra}]'" in done.stderr
    assert "the command dala" in done.stderr


def test_the_doctor_needs_no_extra() -> None:
    done = without("typer", "doctor")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("dala doctor\n")


def test_without_pyav_videos_say_so(tmp_path: Path) -> None:
    clip = tmp_path / "clip.mp4"
    clip.write_bytes(b"\0\xff" * 500)
    done = without("av", "filter", str(clip), str(tmp_path / "out.mp4"), "--blur")
    assert done.returncode == 1
    assert "pip install 'dala-gpu[video]'" in done.stderr
    assert done.stderr.count("\n") == 1


# -- in a pipe -------------------------------------------------------------------------------------------


def test_no_colours_and_no_bars_in_a_pipe(tmp_path: Path) -> None:
    (path,) = pictures(tmp_path, 1, 64)
    done = run("filter", path, tmp_path / "out.png", "--blur", env={"TERM": "xterm-256color"})
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_an_old_code_page_is_no_error() -> None:
    done = run("kernels", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert done.stderr == ""
    assert "radius=3 sigma=?" in done.stdout


@posix
def test_a_reader_that_has_enough_is_no_error() -> None:
    command = " ".join([*DALA, "kernels | head -1"])
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout.strip()
    assert done.stderr == ""


# -- in a terminal ---------------------------------------------------------------------------------------


@posix
def test_colours_in_a_terminal_unless_no_color() -> None:
    assert "\x1b[" in in_terminal(["kernels", "blur"])[1]
    assert "\x1b[3" not in in_terminal(["kernels", "blur"], NO_COLOR="1")[1]


@posix
@pytest.mark.parametrize("columns", [80, 120])
def test_help_fits_the_terminal(columns: int) -> None:
    for arguments in (
        ["--help"],
        ["filter", "--help"],
        ["kernels"],
        ["kernels", "resize"],
        ["looks"],
    ):
        code, text = in_terminal(arguments, columns=columns)
        assert code == 0
        widest = max(plain(text).splitlines(), key=len)
        assert len(widest) <= columns, widest


@posix
def test_a_bar_for_many_pictures(tmp_path: Path) -> None:
    pictures(tmp_path, 12, 500)
    code, text = in_terminal(
        ["filter", f"{tmp_path}/*.png", f"{tmp_path}/out/", "--blur", "--median", "2"]
    )
    assert code == 0
    assert "━" in text
    assert re.search(r"\d+/12", plain(text))
    assert re.search(r"0:\d\d left", plain(text))
    assert "picture_11.png" in text
    assert len(list((tmp_path / "out").iterdir())) == 12


@posix
@pytest.mark.flaky(reruns=1)  # it could be done, were this process kept waiting for very long
def test_ctrl_c_leaves_whole_files_only(tmp_path: Path) -> None:
    pictures(tmp_path, MANY, 700)
    out = tmp_path / "out"
    code, text = in_terminal(["filter", f"{tmp_path}/*.png", f"{out}/", "--blur"], interrupt_at="→")
    assert code == 130
    assert "dala: interrupted" in plain(text)
    assert "Traceback" not in text
    done = sorted(out.iterdir())
    assert 0 < len(done) < MANY
    assert not [p for p in out.iterdir() if ".part" in p.name]
    for path in done:
        with Image.open(path) as opened:
            opened.load()


@posix
@pytest.mark.parametrize("told", ["SIGTERM", "SIGHUP"])  # Windows has not the second
@pytest.mark.flaky(reruns=1)  # it could be done, were this process kept waiting for very long
def test_being_told_to_stop_leaves_nothing_half_done(told: str, tmp_path: Path) -> None:
    number = getattr(signal, told)
    pictures(tmp_path, MANY, 700)
    out = tmp_path / "out"
    process = subprocess.Popen(
        [*DALA, "filter", f"{tmp_path}/*.png", f"{out}/", "--blur"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()  # the first file is done
    process.send_signal(number)
    process.communicate(timeout=300)
    assert process.returncode == 128 + number
    assert 0 < len(list(out.iterdir())) < MANY
    assert not [p for p in out.iterdir() if ".part" in p.name]


# -- pictures in pipes --------------------------------------------------------------------------------


def piped(data: bytes, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "dala", "filter", *map(str, arguments)],
        input=data, capture_output=True, check=False, timeout=300,
        env={**os.environ, "DALA_DEVICE": "cpu"},
    )  # fmt: skip


def test_pictures_in_pipes_stay_what_they_are(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[271] = "Maker"
    Image.new("RGB", (40, 30), (200, 90, 30)).save(tmp_path / "in.jpg", exif=exif)
    source = (tmp_path / "in.jpg").read_bytes()
    for words, form in (
        (("-", "-.png"), "PNG"),
        ((tmp_path / "in.jpg", "-"), "JPEG"),
        ((tmp_path / "in.jpg", "-.webp", "--quiet"), "WEBP"),
    ):
        done = piped(source, *words, "--invert")
        assert done.returncode == 0, done.stderr
        made = Image.open(io.BytesIO(done.stdout))  # in memory: nothing to close
        assert (made.format, made.size, made.getexif()[271]) == (form, (40, 30), "Maker")
        assert np.abs(np.asarray(made).astype(int)[15, 20] - (55, 165, 225)).max() <= 4
    assert piped(source, "-", tmp_path / "out.tif", "--invert").returncode == 0
    with Image.open(tmp_path / "out.tif") as made:
        assert made.getexif()[271] == "Maker"


def test_what_comes_through_a_pipe_and_is_no_picture() -> None:
    done = piped(b"hello", "-", "-.png")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"dala filter: stdin is a text file, neither a picture nor a video\n"
    done = piped(b"", "nowhere.jpg", "-.png")
    assert done.stderr == b"dala filter: no file 'nowhere.jpg'\n"


def test_stdout_as_a_file_of_some_ending(tmp_path: Path) -> None:
    pytest.importorskip("av")
    Image.new("RGB", (48, 32), (200, 90, 30)).save(tmp_path / "in.png")
    done = piped(b"", tmp_path / "in.png", "-.webm", "--to", "0.2", "--invert")
    assert done.returncode == 0, done.stderr
    assert done.stdout[:4] == b"\x1a\x45\xdf\xa3" and b"webm" in done.stdout[:64]


def test_numbered_pictures_to_stdout_are_a_video(tmp_path: Path) -> None:
    pytest.importorskip("av")
    for n in range(1, 5):
        Image.new("RGB", (48, 32), (50 * n, 90, 30)).save(tmp_path / f"s-{n:02}.png")
    done = piped(b"", tmp_path / "s-%02d.png", "-", "--invert")
    assert done.returncode == 0, done.stderr
    assert done.stdout[:4] == b"\x1a\x45\xdf\xa3" and b"matroska" in done.stdout[:64]


@pytest.mark.parametrize("name", ["one.png", "f-%04d.png"])
def test_a_video_from_a_pipe_is_not_awaited_to_its_end(tmp_path: Path, name: str) -> None:
    pytest.importorskip("av")
    words = [*DALA, "filter", "-", str(tmp_path / name), "--to", "0.2", "--invert"]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "DALA_DEVICE": "cpu"}
    )  # fmt: skip
    assert process.stdin is not None
    frame = b"FRAME\n" + bytes([200]) * (320 * 240) + bytes([128]) * (320 * 240 // 2)
    try:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"YUV4MPEG2 W320 H240 F25:1 Ip A1:1 C420jpeg\n" + frame * 100)
            process.stdin.flush()
        assert process.wait(timeout=60) == 0  # with stdin still open
    finally:
        process.kill()
        with contextlib.suppress(BrokenPipeError):
            process.communicate()
    assert list(tmp_path.glob("*.png"))


def test_an_index_that_comes_last_is_no_damage(tmp_path: Path) -> None:
    with av.open(
        str(tmp_path / "late.mp4"), "w"
    ) as out:  # PyAV leaves the index where it is written
        stream = out.add_stream("libx264", rate=25)
        stream.width, stream.height = 320, 240
        noise = np.random.default_rng(1).integers(0, 256, (20, 240, 320, 3), np.uint8)
        for pixels in noise:  # more than what is kept of a pipe
            out.mux(stream.encode(av.VideoFrame.from_ndarray(pixels)))
        out.mux(stream.encode(None))
    done = piped((tmp_path / "late.mp4").read_bytes(), "-", tmp_path / "out.mkv", "--sepia")
    assert done.returncode == 1 and done.stderr.endswith(b"a file: < clip.mp4\n"), done.stderr


def test_what_is_copied_from_a_pipe_is_a_picture() -> None:
    for form in ("PNG", "JPEG", "TIFF", "WEBP", "GIF", "BMP", "PPM", "TGA"):
        held = io.BytesIO()
        Image.effect_noise((64, 48), 60).convert("RGB").save(held, form)
        assert is_picture(held.getvalue()[:4096]), form
    for head in (b"YUV4MPEG2 W320 H240 F25:1\nFRAME\n", b"\x1a\x45\xdf\xa3" + bytes(60),
                 b"\0\0\0\x20ftypisom" + bytes(60), b"hello"):  # fmt: skip
        assert not is_picture(head), head
