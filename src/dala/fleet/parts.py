"""Parts of a job: how long they are, how they are encoded, that none is missing, what the result lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from dala.errors import FleetError, ParameterError
from dala.fleet.running import Report
from dala.media.losses import report_losses
from dala.video.codecs import Settings
from dala.video.encoding import Encoding
from dala.video.parts import Journal, Record, encoding_for

# The same for every job, since x264 decides otherwise with another number; more than four hardly pay, as
# decoding and filters have threads of their own.
ENCODER_THREADS = 4
SEGMENT_S = 10.0  # as long as x264's longest group of pictures at 25 frames per second


def check_length(segment_s: object) -> None:
    """Refuse what is no length of a part."""
    is_number = isinstance(segment_s, int | float) and not isinstance(segment_s, bool)
    if not is_number or not 0 < segment_s <= 86_400:  # type: ignore[operator]
        raise ParameterError(f"segment_s is a number of seconds above 0, got {segment_s!r}")


def require_all(report: Report, whole: str, journal: Journal) -> None:
    """Refuse to join a job of which a part failed."""
    if report.failures:
        first = report.failures[0]
        raise FleetError(
            f"{whole}: {first.name}: {first.reason}; {len(journal.finished)} of {report.tasks} parts "
            "are finished and will not be done again"
        )


def encoding_of(encoding: Encoding, settings: Settings | None = None) -> Record:
    """How parts of a file with these settings, or whole files, are encoded."""
    values = asdict(encoding) if settings is None else encoding_for(encoding, settings)
    return {**values, "options": {"threads": str(ENCODER_THREADS), **values["options"]}}


def lines_about(result: str, losses: Sequence[str]) -> tuple[str, ...]:
    """What a result does not hold, as a report tells it."""
    lines: list[str] = []
    report_losses(result, losses, tell=lines.append)
    return tuple(lines)
