"""``dala detect``: what a model sees in a picture, or in every frame of a video; as lines, as JSON, drawn.

source → pictures → model (→ tracker) → lines or JSON
                                      → drawn on the picture → OUT
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dala import ml
from dala.cli.filtering import kind_of, kind_of_name
from dala.cli.mistakes import Failed
from dala.cli.names import check_source
from dala.cli.screen import say, say_json
from dala.media.files import open_photo, save_photo
from dala.media.files.place import moved_into_place
from dala.ml import Result
from dala.ml.model import Model

LEAST_SCORE = 0.005  # less would read 0.00


class Seen(NamedTuple):
    """What was found at a time (None: in a picture), in the order of frames."""

    seconds: float | None
    size: tuple[int, int]
    result: Result


@dataclass(frozen=True)
class Settings:
    """How to look, and what to do with what is seen."""

    score: float | None = None  # the model's own if None
    track: bool = False
    as_json: bool = False
    overwrite: bool = False


def run_detect(source: Path, target: Path | None, model: Model, settings: Settings) -> None:
    """Say what is in a picture or in a video, frame by frame; and draw it, if there is a target."""
    check_source(source)
    kind = kind_of(source) or "video"
    if target is not None:
        _check_target(target, kind, overwrite=settings.overwrite)
    look = _look(model, _options(model, settings.score), ml.Tracker() if settings.track else None)
    frames: list[dict[str, object]] = []

    def tell(seen: Seen) -> None:
        if settings.as_json:
            frames.append(_as_data(seen))
            return
        for line in in_words(seen.result):
            say(line if seen.seconds is None else f"{seen.seconds:9.3f} s  {line}")

    if kind == "picture":
        tell(_in_picture(source, target, look))
    else:
        _in_video(source, target, look, tell)
    if settings.as_json:
        say_json({"file": str(source), "kind": kind, "model": model.name, "frames": frames})


def _check_target(target: Path, kind: str, *, overwrite: bool) -> None:
    if kind_of_name(target) != kind:
        raise Failed(f"IN is a {kind}, and cannot become {target.suffix or target.name}")
    if target.exists() and not overwrite:
        raise Failed(f"{target} exists; --overwrite replaces it")


def _options(model: Model, score: float | None) -> dict[str, object]:
    if score is None:
        return {}
    if model.task is None or "score" not in model.task.options:
        raise Failed(f"{model.name} finds nothing that has a --score")
    return {"score": score}


def _look(model: Model, options: dict[str, object], tracker: ml.Tracker | None) -> Any:
    def look(pixels: Any) -> Result:
        result = model.predict_frame(pixels, **options)  # type: ignore[arg-type]
        if tracker is None:
            return result
        if not isinstance(result, ml.Detections):
            raise Failed(f"--track follows detections, and {model.name} makes none")
        return tracker.update(result)

    return look


def _in_picture(source: Path, target: Path | None, look: Any) -> Seen:
    photo = open_photo(source)
    result = look(photo.pixels)
    if target is not None:
        drawn = photo.with_frames([draw_result(photo.pixels, result)])
        with moved_into_place(target) as unfinished:
            save_photo(drawn, target, write_to=unfinished)
    return Seen(None, (photo.width, photo.height), result)


def _in_video(source: Path, target: Path | None, look: Any, tell: Callable[[Seen], None]) -> None:
    """Every frame in its order. What is drawn goes into a video with the sound, times and tracks of the
    source."""
    from dala import video

    def see(frame: video.Frame) -> Any:
        pixels = frame.rgba
        result = look(pixels)
        tell(Seen(float(frame.time), (pixels.shape[1], pixels.shape[0]), result))
        return None if target is None else draw_result(pixels, result)

    if target is not None:
        video.transcode(source, target, on_frame=see)
        return
    with video.Reader(source) as reader:
        for frame in reader:
            see(frame)


def draw_result(pixels: Any, result: Result) -> Any:
    """What a model saw, drawn on the picture."""
    from dala.media import annotate

    if isinstance(result, ml.Segmentation):
        return annotate.masks(pixels, result)
    if isinstance(result, ml.Poses):
        return annotate.keypoints(annotate.skeletons(pixels, result), result)
    if isinstance(result, ml.Faces):
        return annotate.keypoints(annotate.boxes(pixels, result), result)
    if isinstance(result, ml.Detections):
        return annotate.boxes(pixels, result)
    return annotate.labels(pixels, [found for found in result if found.score >= LEAST_SCORE])


def _as_data(seen: Seen) -> dict[str, object]:
    data: dict[str, object] = {} if seen.seconds is None else {"time": round(seen.seconds, 6)}
    data |= {"width": seen.size[0], "height": seen.size[1]}
    if isinstance(seen.result, ml.Segmentation):
        shares = {n: round(seen.result.share(n), 4) for n in seen.result.present}
        return {**data, "shares": shares}
    return {**data, "found": [_record(r) for r in seen.result]}


def _record(record: Any) -> dict[str, object]:
    if isinstance(record, ml.Face):
        return {"box": record.box, "score": record.score, "keypoints": dict(record.keypoints)}
    if isinstance(record, ml.Pose):
        return {"score": record.score, "joints": dict(record.joints)}
    return asdict(record)


def in_words(result: Result) -> Iterator[str]:
    """A line for each thing."""
    if isinstance(result, ml.Segmentation):
        for name in result.present:
            yield f"{name} {result.share(name):.0%}"
    elif isinstance(result, ml.Classes):
        for found in result:
            if found.score >= LEAST_SCORE:
                yield f"{found.name} {found.score:.2f}"
    elif isinstance(result, ml.Poses):
        for pose in result:
            seen = [n for n, (_, _, score) in pose.joints.items() if score >= 0.5]
            yield f"person {pose.score:.2f}  {', '.join(seen)}"
    else:
        for thing in result:
            yield _thing(thing)


def _thing(found: ml.Detection | ml.Face) -> str:
    name, number = "face", ""
    if isinstance(found, ml.Detection):
        name = found.name
        number = "" if found.track_id is None else f" #{found.track_id}"
    x0, y0, x1, y1 = (round(v) for v in found.box)
    return f"{name}{number} {found.score:.2f}  ({x0}, {y0}) to ({x1}, {y1})"
