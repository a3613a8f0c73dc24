"""``dala doctor``: what works here, what is missing, and the command that helps.

``examine`` looks; ``prescription`` turns what was seen into words and is pure, so that every case is
tested. It needs neither typer nor rich.
"""

from __future__ import annotations

import glob
import importlib
import shutil
import sys
import textwrap
from dataclasses import dataclass

from dala.backends.webgpu.doctor import Found, advise, describe, diagnose
from dala.cli.facts import version_of

PLUGINS = {"pillow-heif": "HEIC", "pillow-jxl-plugin": "JPEG XL", "rawpy": "camera raw"}


@dataclass(frozen=True)
class Patient:
    """Facts about a machine."""

    gpu: Found
    auto: tuple[str, str]  # the device chosen, and why
    pillow: str = ""  # versions; empty if not installed
    pictures: tuple[str, ...] = ()  # formats that can be written
    plugins: tuple[str, ...] = ()  # of PLUGINS, those that are installed
    av: str = ""
    codecs: tuple[str, ...] = ()  # that can be encoded
    broken: str = ""  # why PyAV, though installed, cannot be loaded
    window: tuple[str, ...] = ()  # packages that a window needs and that are missing
    cameras: tuple[str, ...] = ()
    grabs: tuple[str, ...] = ("camera", "screen")  # what this build of FFmpeg can read live


def examine() -> Patient:
    """Look at this machine."""
    from dala.backends.auto import choose_auto

    av, broken = version_of("av"), ""
    codecs: tuple[str, ...] = ()
    grabs: tuple[str, ...] = ()
    if av:
        try:
            codecs, grabs = _encodable(), _grabbed()
        except (ImportError, OSError) as error:
            broken = str(error)
    return Patient(
        gpu=diagnose(),
        auto=choose_auto(),
        pillow=version_of("pillow"),
        pictures=_writable() if version_of("pillow") else (),
        plugins=tuple(p for p in PLUGINS if version_of(p)),
        av=av,
        codecs=codecs,
        broken=broken,
        window=tuple(p for p in ("wgpu", "rendercanvas", "glfw") if not version_of(p)),
        cameras=tuple(sorted(glob.glob("/dev/video*"))),
        grabs=grabs,
    )


def _grabbed() -> tuple[str, ...]:
    from dala.video.opening import has_format
    from dala.video.places import CAMERAS, SCREENS

    kinds = {"camera": CAMERAS, "screen": SCREENS}
    return tuple(k for k, by in kinds.items() if has_format(by.get(sys.platform, by["linux"])[0]))


def _writable() -> tuple[str, ...]:
    features = importlib.import_module("PIL.features")
    known = {"jpg": "jpg", "zlib": "png", "webp": "webp", "libtiff": "tiff", "avif": "avif"}
    return tuple(name for part, name in known.items() if part in features.get_supported())


def _encodable() -> tuple[str, ...]:
    from dala.video.codecs import ENCODERS

    codec = importlib.import_module("av.codec")
    return tuple(
        c for c, names in ENCODERS.items() if any(n in codec.codecs_available for n in names)
    )


def prescription(patient: Patient, columns: int = 0) -> str:
    """The whole of it, as text; lines are wrapped to so many columns, unless 0."""
    rows = [("auto", f"{patient.auto[0]}: {patient.auto[1]}"), *describe(patient.gpu)]
    rows += _media_rows(patient)
    lines = ["dala doctor", ""]
    lines += [_wrap(f"  {name:<10} {words}", columns, 13) for name, words in rows]
    lines.append("")
    for title, advice in (
        ("To use a GPU:", advise(patient.gpu)),
        ("For pictures, videos and windows:", _media_advice(patient)),
    ):
        if advice:
            lines += [title, *(_wrap(f"  - {a}", columns, 4) for a in advice)]
    if not advise(patient.gpu):
        lines.append("A GPU is ready.")
    return "\n".join(lines)


def _wrap(text: str, columns: int, indent: int) -> str:
    """Sentences wrapped under their beginning; commands stay in one line, to be copied."""
    first, *commands = text.split("\n")
    if columns:
        first = textwrap.fill(first, columns, subsequent_indent=" " * indent)
    return "\n".join([first, *commands])


def _media_rows(patient: Patient) -> list[tuple[str, str]]:
    missing = f"{' and '.join(patient.window)} missing" if patient.window else "glfw"
    screen = "a screen" if patient.gpu.display or not _linux(patient) else "no screen"
    none = "none at /dev/video*" if _linux(patient) else "the system's; dala live tries the first"
    if not patient.av:
        video = "missing"
    else:
        video = f"PyAV {patient.av}; writes {', '.join(patient.codecs) or 'nothing'}"
    return [
        (
            "pictures",
            f"Pillow {patient.pillow}; writes {', '.join(patient.pictures)}"
            if patient.pillow
            else "missing",
        ),
        ("photos", _plugin_words(patient)),
        ("video", f"PyAV {patient.av} cannot be loaded" if patient.broken else video),
        ("window", f"{missing}; {screen}"),
        ("cameras", ", ".join(patient.cameras) or none),
        ("live", _live_words(patient)),
    ]


def _plugin_words(patient: Patient) -> str:
    """Which further kinds of photos are opened, and what the others need."""
    missing = [
        f"{kind} needs pip install {p}" for p, kind in PLUGINS.items() if p not in patient.plugins
    ]
    return "; ".join([*(PLUGINS[p] for p in patient.plugins), *missing])


def _live_words(patient: Patient) -> str:
    """What ``dala live --source`` takes here."""
    if not patient.av or patient.broken:
        return "the test pattern alone"
    sources = ["test", *(g for g in ("camera",) if g in patient.grabs)]
    if "screen" in patient.grabs and (patient.gpu.display or not _linux(patient)):
        sources.append("screen")
    return f"from {', '.join(sources)}, a file, rtsp://…; --record FILE, --to rtmp://…, srt://…, udp://…"


def _media_advice(patient: Patient) -> list[str]:
    advice = []
    if not patient.pillow:
        advice.append("picture files need Pillow:\n    pip install 'dala-gpu[image]'")
    if not patient.av:
        advice.append("video files and cameras need PyAV:\n    pip install 'dala-gpu[video]'")
    elif patient.broken:
        advice.append(f"PyAV is broken ({patient.broken}):\n    pip install --force-reinstall av")
    elif "camera" not in patient.grabs:
        advice.append(
            "this build of PyAV reads no cameras; its wheels do:\n"
            "    pip install --force-reinstall --only-binary :all: av"
        )
    elif "h264" not in patient.codecs:
        advice.append(
            "this build of PyAV has no H.264 encoder; its wheels have:\n"
            "    pip install --force-reinstall --only-binary :all: av"
        )
    if patient.window:
        advice.append("windows need more packages:\n    pip install 'dala-gpu[window]'")
    elif _linux(patient) and not patient.gpu.display:
        advice.append(
            "there is no screen for `dala live`; a virtual one:\n    xvfb-run -a dala live --frames 100"
        )
    return advice


def _linux(patient: Patient) -> bool:
    return patient.gpu.platform.startswith("linux")


def show_doctor() -> None:
    """Print it."""
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    print(prescription(examine(), columns))
