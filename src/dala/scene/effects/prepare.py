"""Filters compiled before they are needed, on a thread beside the frames.

A frame never shows others because its own are not ready: it waits for them, or compiles them itself.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from dala import forking, leaving
from dala.errors import DalaError
from dala.media.chain import Chain
from dala.media.frames import FramePipeline
from dala.once import once_per_process
from dala.scene.effects.pipelines import chains_of, has_model, pipeline_for
from dala.scene.layers import Upcoming
from dala.threads import Runners

MOST_WAITING = 64  # of all scenes; what is beyond is compiled when it is seen

_waiting: set[tuple[FramePipeline, Hashable]] = set()
_lock = forking.lock()


@once_per_process
def _runners() -> Runners:
    return Runners("dala-prepare", 1)


def _forget() -> None:
    """In a forked child: who would have compiled them stayed in the parent."""
    _waiting.clear()


forking.in_child(_forget)


def prepare(width: int, height: int, upcoming: Upcoming, device: str | None = None) -> None:
    """Compile what will soon be needed for a picture of this size; returns at once."""
    for effects, more in upcoming.effects:
        pipeline = pipeline_for(width + more, height + more, device)
        try:
            chains = chains_of(effects)
        except DalaError:
            continue  # it is a later frame's, which says so when its time has come
        for chain in chains:
            if not chain.is_open and not has_model(chain):  # those are made for one picture
                _put(pipeline, chain, upcoming)


def _put(pipeline: FramePipeline, chain: Chain, upcoming: Upcoming) -> None:
    key = (pipeline, chain.structure)
    with _lock:
        if key in _waiting or len(_waiting) >= MOST_WAITING:
            return
        _waiting.add(key)

    def work() -> None:
        try:
            if not upcoming.is_over() and not leaving.has_begun():
                pipeline.prepare(np.empty((pipeline.height, pipeline.width, 4), np.uint8), chain)
        except Exception:  # not kept: the frame that needs it meets it again, and says so
            pass
        finally:
            with _lock:
                _waiting.discard(key)

    if not _runners().put(work):
        with _lock:
            _waiting.discard(key)
