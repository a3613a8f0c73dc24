"""One long video through filters, in parts that several workers make at once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from dala._version import __version__
from dala.errors import FleetError, ParameterError
from dala.fleet.addresses import absolute, fetch, state_of
from dala.fleet.cuts import Segment, cut, scan
from dala.fleet.engines import find_engine
from dala.fleet.hashing import Hashing
from dala.fleet.joining import run_and_join
from dala.fleet.parts import SEGMENT_S, check_length, encoding_of
from dala.fleet.placement import Workers, name_of_device, place
from dala.fleet.running import EngineName, OnProgress, Report, Task
from dala.fleet.scenes import transcode_through
from dala.media import looks
from dala.media.chain import Chain, Filters
from dala.media.masks import has_masks
from dala.video.codecs import choose_encoder
from dala.video.encoding import Encoding, Words, with_words
from dala.video.inputs import check_target
from dala.video.library import load_av
from dala.video.parts import suffix_of
from dala.video.parts.folder import LOOK, SOURCE, claim, part_key
from dala.video.parts.joint import Part, join_parts
from dala.video.parts.journal import Journal, Record, folder_of, hash_file, is_url, name_of
from dala.video.places import Place, place_of
from dala.video.sound import Audio, check_audio
from dala.video.source import OnDamage
from dala.video.transcode import encoding_for

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from dala.scene.scene import Scene


def transcode(
    src: str | os.PathLike[str],
    dst: str | os.PathLike[str],
    filters: Filters = (),
    *,
    workers: Workers = "auto",
    threads: int | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    segment_s: float = SEGMENT_S,
    audio: Audio = "copy",
    encoding: Encoding | None = None,
    on_damage: OnDamage = "error",
    scene: Scene | str | os.PathLike[str] | None = None,
    device: str | None = None,
    progress: OnProgress | None = None,
    **words: Unpack[Words],
) -> Report:
    """A video through filters into another file, made by several processes at once.

    It is cut at key frames, about every ``segment_s`` seconds and always at the same places; each part is
    decoded, filtered and encoded by one worker; then the parts are joined, with sound, subtitles, chapters
    and metadata of the source. Frames and their times are those of ``video.transcode``. Finished parts
    stand in a folder beside ``dst`` until the file is complete: called again after a crash, a full disk or
    Ctrl-C, it goes on where it was. ``engine="ray"`` runs on a Ray cluster (``address``); its machines must
    see the same paths. Source and result may also lie at an address that fsspec knows (``s3://…``).
    ``scene``, or a scene's file, shows the video in its node named ``input``, as for ``video.transcode``;
    filters are nodes of the scene then, and it holds what a scene of ``export`` may hold.

    >>> import numpy as np
    >>> from dala import fleet, video
    >>> with video.Writer("long.mp4", fps=25, options={"g": "5"}) as writer:
    ...     for level in range(20):
    ...         writer.write(np.full((48, 64, 3), level * 10, np.uint8))
    >>> report = fleet.transcode("long.mp4", "graded.mp4", ["invert"], workers=2, segment_s=0.4)
    >>> report.tasks, report.frames, report.failures
    (2, 20, ())
    """
    check_length(segment_s)
    check_audio(audio)
    whole = absolute(dst)
    target = folder_of(whole) / name_of(whole) if is_url(whole) else Path(whole)
    source = _bring_here(src, folder_of(whole))
    check_target(target, [_place_of_file(source)])
    chain = Chain.of(filters)
    chosen = with_words(encoding, words)
    if scene is not None:
        if len(chain) or on_damage != "error":
            raise ParameterError(
                "fleet.transcode: with a scene, filters are nodes of the scene, and on_damage is 'error'"
            )
        return transcode_through(
            scene, source, dst, workers=workers, threads=threads, engine=engine, address=address,
            segment_s=segment_s, audio=audio, encoding=chosen, device=device, progress=progress,
        )  # fmt: skip
    device = name_of_device(device)
    with Hashing(source) as hashing:
        chosen = encoding_for(source, str(target), chosen, on_damage)
        # what cannot be encoded is said before anything runs
        settings = choose_encoder(str(target), chosen)
        scanned = scan(source)
        content = hashing.result()
    segments = cut(scanned, segment_s)
    placement = place(
        workers, len(segments), threads,
        here=engine == "local", device=device, pixels=scanned.pixels,
    )  # fmt: skip
    asked: Record = {
        "kind": "transcode",
        "source": source,
        "content": content,
        "chain": looks.lines_of(chain, Path(os.sep)),
        "files": {path: hash_file(path) for path in looks.files_of(chain)},
        "strength": chain.strength,
        "encoding": encoding_of(chosen, settings),
        "part_suffix": suffix_of(settings),
        "audio": audio,
        "on_damage": on_damage,
        "device": device,
        "segments": [str(s.begin) for s in segments],
        "versions": {"dala": __version__, "av": load_av().__version__},
    }
    given = {
        "src": absolute(src), "segment_s": segment_s, "threads": placement.threads, "engine": engine
    }  # fmt: skip
    with Journal(whole, asked, len(segments), given) as journal:
        look = looks.save(journal.folder / LOOK, chain.at(1.0))
        tasks = [_task(s, journal.folder, look, chain, asked) for s in segments]
        runner = find_engine(engine, placement, address, device, workers)
        parts = [Part(task.facts["part"], s.shown) for task, s in zip(tasks, segments, strict=True)]

        def join(made: Iterable[Part]) -> list[str]:
            return join_parts(source, settings, made, audio, journal.folder)

        return run_and_join(whole, target, journal, runner, tasks, parts, join, progress)


def _bring_here(src: str | os.PathLike[str], folder: Path) -> str:
    """The path of the source; what lies at an address is copied into the job's folder, once."""
    if not is_url(src):
        return absolute(src)
    url = str(src)
    state = state_of(url)
    if state is None:
        raise FleetError(f"{url}: there is no such file")
    number = hashlib.sha256(repr((url, state)).encode()).hexdigest()[:16]
    copy = folder / f"{SOURCE}{number}{Path(name_of(url)).suffix}"
    if not copy.exists():
        claim(folder)
        fetch(url, copy)
    return str(copy)


def _place_of_file(source: str) -> Place:
    """Several processes read it, some of them twice."""
    place = place_of(source)
    if place.where != "file" or (os.path.exists(source) and not os.path.isfile(source)):
        raise FleetError(
            f"{source}: is no file of its own, which a job needs; video.transcode reads pictures, pipes "
            "and cameras, and fleet.map takes many files"
        )
    return place


def _task(segment: Segment, folder: Path, look: Path, chain: Chain, asked: Record) -> Task:
    key = part_key(segment.number)
    facts: Record = {name: asked[name] for name in ("source", "encoding", "on_damage", "device")}
    facts |= {
        "part": str(folder / f"{key}{asked['part_suffix']}"),
        "begin": None if segment.begin is None else str(segment.begin),
        "end": None if segment.end is None else str(segment.end),
        "before": segment.before,
        "shown": str(segment.shown),
        "warm": None,
        "look": str(look),
        "strength": chain.strength,
    }
    if has_masks(chain) and segment.lead:
        facts |= {"before": segment.before - segment.lead, "warm": str(segment.warm)}
    return Task(key, "encode_segment", facts, segment.frames)
