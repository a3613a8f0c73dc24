"""Many files: folders in, patterns out, every core, and a bad one among them."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import dala
from dala.cli import batch, filtering, main
from dala.cli.batch import Crew, Room, count_cores, usual_room
from dala.cli.mistakes import Failed
from dala.cli.names import expand, what_it_is

LONG = 300.0  # seconds; nothing here takes one


def photos(folder: Path, count: int) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    for number in range(count):
        pixels = rng.integers(0, 256, (20 + number, 30, 3), np.uint8)
        Image.fromarray(pixels).save(folder / f"photo_{number}.png")
    return sorted(folder.iterdir())


def run(*arguments: object) -> int:
    with dala.use("cpu"):
        return main([str(a) for a in arguments])


def test_a_folder_into_a_pattern(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sources = photos(tmp_path / "in", 6)
    (tmp_path / "in" / "notes.txt").write_text("remember")
    (tmp_path / "in" / ".hidden.png").write_bytes(b"?")
    out = f"{tmp_path}/out/{{name}}_soft.png"
    assert run("filter", tmp_path / "in", out, "--invert") == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.split(" → ")[0] for line in lines] == [str(s) for s in sources]  # in order
    for source in sources:
        with Image.open(source) as a, Image.open(tmp_path / f"out/{source.stem}_soft.png") as b:
            assert (np.asarray(a) == 255 - np.asarray(b)).all()
    assert len(list((tmp_path / "out").iterdir())) == 6


def test_folders_without_pictures(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(Failed, match=r"no picture or video is in .*$"):
        expand([str(tmp_path)], lambda path: path.suffix == ".png")
    photos(tmp_path / "deeper", 1)
    with pytest.raises(Failed, match=r"those of the folders in it: '.*/\*\*/\*.jpg'"):
        expand([str(tmp_path)], lambda path: path.suffix == ".png")


def test_bad_ones_are_a_line_each_and_the_rest_goes_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    photos(tmp_path / "in", 5)
    (tmp_path / "in" / "notes.txt").write_text("remember the milk")
    broken = tmp_path / "in" / "photo_2.png"
    broken.write_bytes(broken.read_bytes()[:200])
    assert run("filter", f"{tmp_path}/in/*", f"{tmp_path}/out/", "--invert") == 1
    notes, damaged, summary = capfd.readouterr().err.splitlines()
    assert notes.endswith("notes.txt is a text file, neither a picture nor a video")
    assert "photo_2.png: the picture is damaged" in damaged
    assert summary == "dala filter: 2 of 6 files failed"
    assert len(list((tmp_path / "out").iterdir())) == 4


def test_even_a_defect_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    sources = photos(tmp_path / "in", 3)
    real = filtering._filter_picture

    def fails(job: filtering.Job, *rest: object) -> None:
        if job.source == sources[1]:
            raise ZeroDivisionError("oh")
        real(job, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(filtering, "_filter_picture", fails)
    assert run("filter", tmp_path / "in", f"{tmp_path}/out/") == 1
    error = capfd.readouterr().err.splitlines()[0]
    assert error.endswith("photo_1.png: ZeroDivisionError: oh; by itself it shows where")
    assert len(list((tmp_path / "out").iterdir())) == 2
    with pytest.raises(ZeroDivisionError):
        run("filter", sources[1], f"{tmp_path}/alone.png")


def test_it_goes_on_where_it_was_stopped(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    photos(tmp_path / "in", 4)
    out = tmp_path / "out"
    out.mkdir()
    (out / "photo_1.png").write_bytes(b"done before")
    assert run("filter", tmp_path / "in", out, "--skip-existing", "--json") == 0
    told = json.loads(capfd.readouterr().out)["files"]
    assert [f["skipped"] for f in told] == [False, True, False, False]
    assert (out / "photo_1.png").read_bytes() == b"done before"
    assert run("filter", tmp_path / "in", out) == 1  # without the option they are in the way
    assert run("filter", tmp_path / "in", out, "--overwrite", "--skip-existing") == 2


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"", "an empty file"),
        ("Grüße\n".encode(), "a text file"),
        ("ü".encode() * 3000, "a text file"),  # cut within a letter
        (b"%PDF-1.7 \x00", "a PDF document"),
        (b"PK\x03\x04\x00\x01", "a ZIP archive or an office document"),
        (b"\x00\x01\x02\xff", ""),
        (b"a\x00b", ""),
    ],
)
def test_files_are_named_for_what_they_are(tmp_path: Path, content: bytes, name: str) -> None:
    path = tmp_path / "thing"
    path.write_bytes(content)
    assert what_it_is(path) == name


# -- the crew ----------------------------------------------------------------------------------


def test_every_worker_works_at_once() -> None:
    together = threading.Barrier(3, timeout=LONG)  # passed by three at a time, or never

    def work(number: int) -> int:
        together.wait()
        return number

    with Crew(range(6), work, workers=3) as crew:
        assert [crew.result(n) for n in range(6)] == list(range(6))


def test_what_was_not_begun_is_dropped() -> None:
    begun, go = threading.Semaphore(0), threading.Event()
    seen = []

    def work(number: int) -> None:
        seen.append(number)
        begun.release()
        assert go.wait(LONG)

    crew = Crew(range(50), work, workers=2)
    with crew:
        assert begun.acquire(timeout=LONG) and begun.acquire(timeout=LONG)
        crew.drop()
        go.set()
    assert len(seen) == 2
    assert not [t for t in threading.enumerate() if t.name.startswith("dala-photo")]


def test_an_error_of_a_job_is_raised_where_its_result_is_asked_for() -> None:
    def work(number: int) -> int:
        if number == 1:
            raise KeyError("one")
        return number

    with Crew(range(3), work, workers=2) as crew:
        assert crew.result(0) == 0
        with pytest.raises(KeyError):
            crew.result(1)
        assert crew.result(2) == 2


def test_room_bounds_what_is_under_way() -> None:
    room, under_way, most, lock = Room(100), [0], [0], threading.Lock()

    def work(pixels: int) -> None:
        with room.taking(pixels):
            with lock:
                under_way[0] += min(pixels, 100)
                most[0] = max(most[0], under_way[0])
            with lock:
                under_way[0] -= min(pixels, 100)

    sizes = [30, 70, 500, 40, 100, 60] * 10  # one is larger than the room, and goes alone
    with Crew(sizes, work, workers=4) as crew:
        for number in range(len(sizes)):
            crew.result(number)
    assert 0 < most[0] <= 100


def test_the_usual_room(monkeypatch: pytest.MonkeyPatch) -> None:
    assert count_cores() >= 1
    assert usual_room(2)._most <= 2 * batch.PIXELS_PER_WORKER
    assert usual_room(1_000_000)._most < 1_000_000 * batch.PIXELS_PER_WORKER  # by the memory
