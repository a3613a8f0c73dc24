"""What a user names as a source: files, pictures, cameras, screens, network streams, a test pattern.

"clip.mp4", Path             a file
0, "camera:1", "/dev/video2" a camera
"screen", "screen:1"         what a screen shows
"rtsp://…", "http://…", …    a stream
"frames/%04d.png"            numbered pictures; also "frames/*.png", and a list of files
"-"                          the standard input
"testsrc", "testsrc=size=…"  FFmpeg's test pattern; plain "testsrc" comes at 30 frames per second
"""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from dala.errors import ArgumentError, ParameterError, VideoError
from dala.video import allowed
from dala.video.library import load_av
from dala.video.span import rate_of

Path: TypeAlias = "str | os.PathLike[str]"
Spec: TypeAlias = "Path | int | Sequence[Path]"
Where = Literal["file", "camera", "screen", "stream", "pattern", "pictures", "stdin"]
PICTURES_FPS = 25  # of numbered pictures, unless said otherwise
CAMERAS = {"linux": ("v4l2", "/dev/video{}"), "darwin": ("avfoundation", "{}"),
           "win32": ("dshow", "{}")}  # fmt: skip
SCREENS = {"linux": ("x11grab", "{}"), "darwin": ("avfoundation", "Capture screen {}"),
           "win32": ("gdigrab", "desktop")}  # fmt: skip
_PATTERN = "testsrc=size=640x480:rate=30,realtime"
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_NUMBERED = re.compile(r"%(0\d)?d")
_PICTURE = re.compile(r"\.(png|jpe?g|tiff?|bmp|webp|exr|dpx|tga|jp2|jxl|avif|gif)", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """What to open, and how to call it in messages."""

    where: Where
    name: str
    url: str
    format: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()  # of pictures
    fps: Fraction = Fraction(PICTURES_FPS)  # of pictures

    @property
    def is_live_stream(self) -> bool:
        """Whether it has no end of its own: what comes over HTTP ends like a file."""
        return self.where == "stream" and not self.url.startswith("http")


def place_of(
    spec: Spec,
    options: Mapping[str, str] | None = None,
    *,
    size: tuple[int, int] | None = None,
    fps: float | Fraction | None = None,
) -> Place:
    """What a user names as a source. ``size`` and ``fps`` are wishes to a camera, a screen or pictures."""
    place = _place_of(spec, dict(options or {}))
    wishes = dict(place.options)
    if size is not None:
        wishes["video_size"] = "{}x{}".format(*_checked_size(size))
    if fps is not None:
        rate = rate_of(fps)
        if place.where == "pictures":
            return replace(place, fps=rate)
        wishes["framerate"] = f"{rate.numerator}/{rate.denominator}"
    if wishes != place.options and place.where not in ("camera", "screen"):
        raise ParameterError(
            f"{place.name}: size is what a camera or a screen is asked for, fps also pictures; filters and "
            "transcode(fps=…) change what comes"
        )
    return replace(place, options=wishes)


def _checked_size(size: tuple[int, int]) -> tuple[int, int]:
    fits = isinstance(size, tuple) and len(size) == 2
    if not fits or not all(isinstance(n, int) and 0 < n <= 65_535 for n in size):
        raise ParameterError(f"size is (width, height), got {size!r}")
    return size


def _place_of(spec: Spec, given: dict[str, str]) -> Place:
    if isinstance(spec, list | tuple) and spec:
        for path in spec:
            if not isinstance(path, str | os.PathLike):
                raise ArgumentError(f"pictures are named by paths, got {type(path).__name__}")
        return _pictures(", ".join(map(str, spec[:1])), [os.fspath(p) for p in spec])
    if isinstance(spec, bool) or not isinstance(spec, str | os.PathLike | int):
        raise ArgumentError(
            f"a video is named by a path, a URL or a camera's number, got {type(spec).__name__}"
        )
    if isinstance(spec, int):
        return _camera(str(spec), given)
    text = os.fspath(spec)
    if isinstance(spec, str):
        if found := _no_file(text, given):
            return found
        if not os.path.lexists(text) and _PICTURE.fullmatch(os.path.splitext(text)[1]):
            if _NUMBERED.search(os.path.basename(text)):
                return _pictures(text, _numbered_files(text))
            if glob.has_magic(text):
                return _pictures(text, sorted(glob.glob(text)))
    return Place("file", text, f"file:{text.removeprefix('file://')}", None, given)


def _no_file(text: str, given: dict[str, str]) -> Place | None:
    """What the words say that name no file; None if they name one."""
    if text == "-":
        return Place("stdin", "stdin", "-", None, given)
    kind, _, number = text.partition(":")
    if kind == "camera" and (number or not os.path.lexists(text)):
        return _camera(number or "0", given)
    if kind == "screen" and (number or not os.path.lexists(text)):
        return _screen(number, given)
    if text.startswith("/dev/video"):
        return Place("camera", text, text, "v4l2", given)
    if text == "testsrc" or text.startswith(("testsrc=", "testsrc2=")):
        allowed.check_pattern(text)
        return Place("pattern", text, _PATTERN if text == "testsrc" else text, "lavfi", given)
    if _URL.match(text) and not text.startswith("file://"):
        return Place("stream", text, text, None, _patient(text, given))
    return None


# -- pictures ------------------------------------------------------------------------------------------


def _pictures(name: str, files: Sequence[str]) -> Place:
    if not files:
        raise VideoError(f"{name}: there are no such pictures")
    return Place("pictures", name, f"file:{files[0]}", files=tuple(files))


def _numbered_files(pattern: str) -> list[str]:
    """The files that a pattern like ``frames/%04d.png`` names, by number; gaps are passed over."""
    folder, last = os.path.split(pattern)
    found = _NUMBERED.search(last)
    assert found is not None
    digits = r"\d+" if found[1] is None else rf"\d{{{int(found[1])},}}"
    named = re.compile(
        f"{re.escape(last[: found.start()])}({digits}){re.escape(last[found.end() :])}"
    )
    names = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
    numbers = sorted((int(m[1]), name) for name in names if (m := named.fullmatch(name)))
    return [os.path.join(folder, name) for _, name in numbers]


# -- cameras, screens, networks --------------------------------------------------------------------------


def _camera(number: str, options: dict[str, str]) -> Place:
    format_, form = CAMERAS.get(sys.platform, CAMERAS["linux"])
    name = form.format(number)
    if format_ == "dshow" and number.isdigit():
        name = _dshow_name(int(number))
    if format_ == "avfoundation":  # its own default of 29.97 is refused by most cameras
        options = {"framerate": "30", **options}
    return Place("camera", f"camera {number}", name, format_, options)


def _screen(number: str, options: dict[str, str]) -> Place:
    format_, form = SCREENS.get(sys.platform, SCREENS["linux"])
    name = form.format(number or "0")
    if format_ == "x11grab":
        shown = os.environ.get("DISPLAY", "")
        if not shown and not number.startswith(":"):
            raise VideoError(
                "screen: DISPLAY is not set, and only X11's screens can be read; under Wayland a window of "
                "Xwayland or Xvfb has one"
            )
        name = number if number.startswith(":") else _x11_name(shown, number)
    return Place(
        "screen", f"screen {number}".rstrip(), name, format_, {"framerate": "30", **options}
    )


def _x11_name(display: str, number: str) -> str:
    """``:0`` and ``1`` are ``:0.1``."""
    host, _, rest = display.rpartition(":")
    return f"{host}:{rest.partition('.')[0]}.{number}" if number else display


def _dshow_name(number: int) -> str:
    """Windows has names for cameras, no numbers."""
    found = [
        d for d in load_av().device.enumerate_input_devices("dshow") if "video" in d.media_types
    ]
    if number >= len(found):
        raise VideoError(f"camera {number}: there are {len(found)} cameras")
    return f"video={found[number].description}"


def _patient(url: str, given: dict[str, str]) -> dict[str, str]:
    """Cameras on a network: TCP loses nothing. Files over HTTP: FFmpeg itself asks again."""
    if url.startswith("rtsp"):
        return {"rtsp_transport": "tcp", **given}
    if url.startswith("http"):
        return {"reconnect": "1", "reconnect_delay_max": "2", **given}
    return given
