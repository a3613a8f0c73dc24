"""A scene as a file, in parts that several workers paint at once: its picture depends on the time alone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from dala.compute.default import default_name
from dala.errors import ParameterError
from dala.fleet.addresses import absolute
from dala.fleet.engines import find_engine
from dala.fleet.joining import run_and_join
from dala.fleet.parts import SEGMENT_S, check_length, encoding_of
from dala.fleet.placement import Workers, place
from dala.fleet.running import EngineName, OnProgress, Report, Task
from dala.video.encoding import Encoding, Words, with_words
from dala.video.parts.folder import SCENE, part_key
from dala.video.parts.joint import Part
from dala.video.parts.journal import Journal, Record, folder_of, hash_file, is_url, name_of
from dala.video.sound import Audio as VideoAudio

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from dala.scene.out.tracks import Audio
    from dala.scene.scene import Scene
    from dala.scene.times import Time

Span = tuple[Fraction, Fraction]


def export(
    scene: Scene | str | os.PathLike[str],
    dst: str | os.PathLike[str],
    *,
    workers: Workers = "auto",
    threads: int | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    segment_s: float = SEGMENT_S,
    fps: float | Fraction | None = None,
    start: Time | None = None,
    end: Time | None = None,
    audio: Audio = "auto",
    encoding: Encoding | None = None,
    device: str | None = None,
    progress: OnProgress | None = None,
    **words: Unpack[Words],
) -> Report:
    """A scene, or a scene's file, as a video that several processes paint at once.

    It is cut every ``segment_s`` seconds; frames, times and sound are those of ``scene.export``, and the
    sound is mixed once. Workers read the scene from a file, so it can hold what a file can: no arrays,
    no functions; and nothing live, which each of them would see at another time. Finished parts stay, as
    those of ``transcode`` do. A file names what is in its own folder, as for ``scene.load``; one that you
    trust is loaded with ``sources="any"`` and given as a scene.

    >>> from dala import fleet, scene
    >>> with scene.Scene(64, 48, target_fps=25, background="navy") as stage:
    ...     _ = stage.add_shape(position=(8, 8), size=(16, 16), fill="gold")
    ...     report = fleet.export(stage, "card.mp4", end=0.8, segment_s=0.4, workers=2)
    >>> report.tasks, report.frames, report.failures
    (2, 20, ())
    """
    from dala.scene import load
    from dala.scene.files.writing import to_document
    from dala.scene.out.parts import check_portable

    folder = folder_of(absolute(dst))
    if isinstance(scene, str | os.PathLike):
        with load(scene) as stage:
            check_portable(stage, "fleet.export")
            document = to_document(stage, folder)
    else:
        check_portable(scene, "fleet.export")
        document = to_document(scene, folder)
    return export_document(
        document, dst, workers=workers, threads=threads, engine=engine, address=address,
        segment_s=segment_s, fps=fps, start=start, end=end, audio=audio,
        encoding=with_words(encoding, words), device=device, progress=progress,
    )  # fmt: skip


def transcode_through(
    scene: Scene | str | os.PathLike[str],
    src: str,
    dst: str | os.PathLike[str],
    *,
    audio: VideoAudio,
    **asked: Any,
) -> Report:
    """A video as a scene shows it in its node ``input``: rate, length and sound are the video's."""
    from dala.scene import load
    from dala.scene.files.writing import to_document
    from dala.scene.out.parts import check_portable
    from dala.scene.out.transcoding import end_of, showing

    heard: Audio = "auto" if audio == "copy" else audio
    with ExitStack() as opened:
        stage = scene
        if isinstance(stage, str | os.PathLike):
            stage = opened.enter_context(load(stage))
        rate, length = opened.enter_context(showing(stage, src))
        check_portable(stage, "fleet.transcode")
        document = to_document(stage, folder_of(absolute(dst)))
        return export_document(
            document, dst, fps=rate or stage.target_fps, start=None, end=end_of(src, length),
            audio=heard, **asked,
        )  # fmt: skip


def export_document(
    document: Record,
    dst: str | os.PathLike[str],
    *,
    workers: Workers,
    threads: int | None,
    engine: EngineName,
    address: str | None,
    segment_s: float,
    fps: float | Fraction | None,
    start: Time | None,
    end: Time | None,
    audio: Audio,
    encoding: Encoding,
    device: str | None,
    progress: OnProgress | None,
    default: str | None = None,
) -> Report:
    """The same for a scene's document, whose paths are relative to the job's folder.

    ``default`` is the default device, which effects use wherever the scene is painted.
    """
    from dala.scene.files.reading import from_document
    from dala.scene.files.shown import files_shown, fonts_behind
    from dala.scene.files.sources import Sources
    from dala.scene.out.parts import join, parts_of, said_of, settings_of, spans_of
    from dala.scene.out.stage import fps_of, span_of
    from dala.scene.out.tracks import Audio as Ways

    check_length(segment_s)
    if audio not in get_args(Ways):
        raise ParameterError(f"audio is one of {', '.join(get_args(Ways))}, got {audio!r}")
    whole = absolute(dst)
    folder = folder_of(whole)
    target = folder / name_of(whole) if is_url(whole) else Path(whole)
    settings = settings_of(target, encoding)
    with from_document(document, Sources.anywhere(folder)) as stage:
        files = sorted(files_shown(stage))
        if os.path.realpath(target) in files:
            raise ParameterError(f"{target}: the scene shows it, so it cannot be the result, too")
        rate = fps_of(stage, fps)
        first, last = span_of(stage, start, end, "export")
        spans = spans_of(first, last, rate, segment_s)
        placement = place(
            workers, len(spans), threads,
            here=engine == "local", device=device or "cpu",  # where scenes are painted
            pixels=stage.width * stage.height,
        )  # fmt: skip
        asked: Record = {
            **said_of(rate, spans, settings, audio, device),
            "kind": "export",
            "scene": document,
            "files": {path: hash_file(path) for path in files},
            "fonts": fonts_behind(stage),
            "encoding": encoding_of(encoding, settings),
            "default": default or default_name(),
        }
        given = {"segment_s": segment_s, "threads": placement.threads, "engine": engine}
        runner = find_engine(engine, placement, address, device or asked["default"], workers)
        with Journal(whole, asked, len(spans), given) as journal:
            tasks = _tasks(spans, rate, journal.folder, asked)
            parts = parts_of([Path(task.facts["part"]) for task in tasks], spans)

            def join_scene(made: Iterable[Part]) -> list[str]:
                return join(stage, settings, made, spans, audio, journal.folder)

            return run_and_join(whole, target, journal, runner, tasks, parts, join_scene, progress)


def _tasks(spans: list[Span], rate: Fraction, folder: Path, asked: Record) -> list[Task]:
    from dala.scene.out.stage import count_of

    scene = folder / SCENE
    scene.write_text(json.dumps(asked["scene"]), encoding="utf-8")
    shared: Record = {name: asked[name] for name in ("fps", "encoding", "device", "default")}
    made = []
    for number, (begin, end) in enumerate(spans):
        key = part_key(number)
        part = str(folder / f"{key}{asked['part_suffix']}")
        facts = {"scene": str(scene), "part": part, "begin": str(begin), "end": str(end)}
        made.append(Task(key, "export_span", {**shared, **facts}, count_of(begin, end, rate)))
    return made
