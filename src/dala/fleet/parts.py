"""Parts of a video: how long they are, how they are encoded, and that none is missing."""

from __future__ import annotations

from dataclasses import asdict, replace

from dala.errors import FleetError, ParameterError
from dala.fleet.journal import Journal, Record
from dala.fleet.running import Report
from dala.video.codecs import Settings
from dala.video.encoding import Encoding

# The same for every job, since x264 decides otherwise with another number; more than four hardly pay, as
# decoding and filters have threads of their own.
ENCODER_THREADS = 4
SEGMENT_S = 10.0  # as long as x264's longest group of pictures at 25 frames per second


def check_length(segment_s: object) -> None:
    """Refuse what is no length of a part."""
    if not isinstance(segment_s, int | float) or not 0 < segment_s <= 86_400:
        raise ParameterError(f"segment_s is a number of seconds above 0, got {segment_s!r}")


def require_all(report: Report, whole: str, journal: Journal) -> None:
    """Refuse to join a job of which a part failed."""
    if report.failures:
        first = report.failures[0]
        raise FleetError(
            f"{whole}: {first.name}: {first.reason}; {len(journal.finished)} of {report.tasks} parts "
            "are finished and will not be done again"
        )


def suffix_of(settings: Settings) -> str:
    """Of parts: a container that has exact times and holds what was encoded."""
    return ".mov" if settings.encoder.startswith("prores") else ".mp4"


def encoding_of(encoding: Encoding, codec: str | None = None) -> Record:
    """How parts are encoded: by the codec of the whole file, not the usual one of their own container."""
    values = asdict(replace(encoding, codec=encoding.codec or codec))
    return {**values, "options": {"threads": str(ENCODER_THREADS), **values["options"]}}
