"""Going on with a job that was left: it is asked for again, with the words it was asked for first."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from dala.errors import FleetError
from dala.fleet.files import map as map_files
from dala.fleet.placement import Workers
from dala.fleet.running import OnProgress, Report
from dala.fleet.scenes import export_document
from dala.fleet.transcode import transcode
from dala.media.chain import Chain
from dala.media.lookfile import write_look
from dala.video.encoding import Encoding
from dala.video.parts.journal import status

Words: TypeAlias = "tuple[Any, dict[str, Any]]"  # what a job is given first, and the rest by name


def resume(
    output: str | os.PathLike[str],
    *,
    workers: Workers = "auto",
    address: str | None = None,
    progress: OnProgress | None = None,
) -> Report:
    """Go on with the job for that output; what is finished is not done again.

    >>> from dala import fleet
    >>> fleet.resume("nothing.mp4")
    Traceback (most recent call last):
    dala.errors.FleetError: nothing.mp4: no job is under way for it, and none was left unfinished
    """
    left = status(output)
    if left.kind == "scene.export":
        raise FleetError(
            f"{output}: this is an export, not a job of fleet's; scene.export(…, resume=True) goes on"
        )
    if left.kind not in _WORDS:
        raise FleetError(f"{output}: its journal is of no job of fleet's, but {left.kind!r}")
    try:
        first, words = _WORDS[left.kind](left.asked)
        words |= {name: left.asked[name] for name in ("threads", "engine", "device")}
        words["encoding"] = Encoding(**left.asked["encoding"])
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise FleetError(
            f"{output}: its journal does not say all that was asked for ({error!r}), as one of another "
            f"version; ask again with the words of the first time: fleet.{left.kind}(…)"
        ) from error
    return _JOBS[left.kind](
        first, output, workers=workers, address=address, progress=progress, **words
    )


def _of_export(asked: Mapping[str, Any]) -> Words:
    words = {name: Fraction(asked[name]) for name in ("fps", "start", "end")}
    words |= {name: asked[name] for name in ("segment_s", "audio")}
    return asked["scene"], {**words, "default": asked.get("default")}


def _of_transcode(asked: Mapping[str, Any]) -> Words:
    words = {name: asked[name] for name in ("segment_s", "audio", "on_damage")}
    return asked["src"], {**words, "filters": _chain(asked)}


def _of_map(asked: Mapping[str, Any]) -> Words:
    words = {name: asked[name] for name in ("names", "on_damage")}
    return asked["paths"], {**words, "filters": _chain(asked)}


def _chain(asked: Mapping[str, Any]) -> Chain:
    """The filters, read as from a look's file; a journal is no more trusted than that."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chain.look"
        write_look(path, "", asked["chain"])
        return Chain.of(path).at(asked["strength"])


_WORDS: dict[str, Callable[[Mapping[str, Any]], Words]] = {
    "export": _of_export,
    "transcode": _of_transcode,
    "map": _of_map,
}
_JOBS: dict[str, Callable[..., Report]] = {
    "export": export_document,
    "transcode": transcode,
    "map": map_files,
}
