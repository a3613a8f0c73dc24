"""Going on with a job that was left: it is asked for again, with the words it was asked for first."""

from __future__ import annotations

import os
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

from dala.errors import FleetError
from dala.fleet.files import map as map_files
from dala.fleet.placement import Workers
from dala.fleet.running import OnProgress, Report
from dala.fleet.scenes import export_document
from dala.fleet.transcode import transcode
from dala.media.chain import Chain
from dala.media.lookfile import write_look
from dala.video.encoding import Encoding
from dala.video.parts.journal import Status, status


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
    asked = left.asked
    shared: dict[str, Any] = {
        "workers": workers,
        "threads": asked["threads"],
        "engine": asked["engine"],
        "address": address,
        "device": asked["device"],
        "progress": progress,
        "encoding": Encoding(**asked["encoding"]),
    }
    if left.kind == "export":
        times: dict[str, Any] = {name: Fraction(asked[name]) for name in ("fps", "start", "end")}
        return export_document(
            asked["scene"], output, segment_s=asked["segment_s"], audio=asked["audio"],
            default=asked["default"], **times, **shared,
        )  # fmt: skip
    shared["on_damage"] = asked["on_damage"]
    if left.kind == "map":
        names = asked["names"]
        return map_files(asked["paths"], output, _chain(left), names=names, **shared)
    return transcode(
        asked["src"], output, _chain(left),
        segment_s=asked["segment_s"], audio=asked["audio"], **shared,
    )  # fmt: skip


def _chain(left: Status) -> Chain:
    """The filters, read as from a look's file; a journal is no more trusted than that."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chain.look"
        write_look(path, "", left.asked["chain"])
        return Chain.of(path).at(left.asked["strength"])
