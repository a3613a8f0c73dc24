"""HDR: the metadata of a mastering display for encoders, and the way from HDR to SDR.

PQ and HLG are brought to light (203 nits are white, as BT.2408 has it), bright places are rolled off below
white, the colours of BT.2020 become those of BT.709, and the picture is encoded for a display of gamma 2.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dala.errors import VideoError
from dala.language.kernel import make_kernel
from dala.language.parameter import static
from dala.language.values import Image, Value, Vec
from dala.language.vocabulary import clamp, exp, max, pow, rgb, where
from dala.video.color import Color
from dala.video.device import Middle, before

PQ, HLG = 16, 18  # FFmpeg's numbers of the transfer functions
SDR = Color("bt709", "limited", 1, 1)
WHITE_NITS, HLG_NITS = 203.0, 1000.0
KNEE = 0.75  # of white: below it light stays as it is
_GAMUT = (  # BT.2020 to BT.709, linear
    (1.6605, -0.5876, -0.0728),
    (-0.1246, 1.1329, -0.0083),
    (-0.0182, -0.1006, 1.1187),
)


def is_hdr(color: Color) -> bool:
    """Whether its levels are those of PQ or HLG."""
    return color.transfer in (PQ, HLG)


# -- metadata ------------------------------------------------------------------------------------------


def mastering_options(picture: Any, encoder: str) -> dict[str, str]:
    """What an encoder writes about the display that a picture was made on, and about its brightest places.

    Empty where the picture does not say, or the encoder has no word for it.
    """
    display = picture.side_data.get("MASTERING_DISPLAY_METADATA")
    light = picture.side_data.get("CONTENT_LIGHT_LEVEL")
    shown = None if display is None else _display(bytes(display))
    bright = None if light is None else np.frombuffer(bytes(light), np.uint32)[:2].tolist()
    if encoder == "libx265":
        parts = ["hdr10=1", "repeat-headers=1"]
        parts += [f"master-display={_whole(shown)}"] if shown else []
        parts += [f"max-cll={bright[0]},{bright[1]}"] if bright else []
        return {"x265-params": ":".join(parts)} if shown or bright else {}
    if encoder == "libx264":
        parts = [f"mastering-display={_whole(shown)}"] if shown else []
        parts += [f"cll={bright[0]},{bright[1]}"] if bright else []
        return {"x264-params": ":".join(parts)} if parts else {}
    if encoder == "libsvtav1":
        parts = [f"mastering-display={_decimal(shown)}"] if shown else []
        parts += [f"content-light={bright[0]},{bright[1]}"] if bright else []
        return {"svtav1-params": ":".join(parts)} if parts else {}
    return {}


def has_mastering(picture: Any) -> bool:
    """Whether a picture tells about its display or its brightest places."""
    names = ("MASTERING_DISPLAY_METADATA", "CONTENT_LIGHT_LEVEL")
    return any(picture.side_data.get(name) is not None for name in names)


def _display(data: bytes) -> list[Fraction] | None:
    """Red, green, blue and white as (x, y), then the least and the most light: FFmpeg's struct."""
    numbers = np.frombuffer(data, np.int32).tolist()
    values = [
        Fraction(n, d) if d else Fraction(0)
        for n, d in zip(numbers[:20:2], numbers[1:20:2], strict=True)
    ]
    return values if len(values) == 10 and all(numbers[20:22]) else None


def _whole(display: Sequence[Fraction]) -> str:
    """In fifty-thousandths and ten-thousandths, as x265 and x264 have it."""
    red, green, blue, white = (
        f"({round(display[k] * 50_000)},{round(display[k + 1] * 50_000)})" for k in (0, 2, 4, 6)
    )
    least, most = (round(light * 10_000) for light in display[8:])
    return f"G{green}B{blue}R{red}WP{white}L({most},{least})"


def _decimal(display: Sequence[Fraction]) -> str:
    red, green, blue, white = (
        f"({float(display[k]):.4f},{float(display[k + 1]):.4f})" for k in (0, 2, 4, 6)
    )
    least, most = (float(light) for light in display[8:])
    return f"G{green}B{blue}R{red}WP{white}L({most:.4f},{least:.4f})"


# -- to SDR --------------------------------------------------------------------------------------------


def _from_pq(level: Value) -> Value:
    """Light as parts of white (SMPTE ST 2084)."""
    root = pow(clamp(level, 0.0, 1.0), 1 / 78.84375)
    return pow(max(root - 0.8359375, 0.0) / (18.8515625 - 18.6875 * root), 1 / 0.1593017578125) * (
        10_000 / WHITE_NITS
    )


def _from_hlg(level: Value) -> Value:
    """Light of the scene, 0..1 (BT.2100)."""
    v = clamp(level, 0.0, 1.0)
    low, high = v * v / 3.0, (exp((v - 0.55991073) / 0.17883277) + 0.28466892) / 12.0
    return where(v <= 0.5, low, high)


def _tonemap(src: Image, transfer: str = static("pq", choices=("pq", "hlg"))) -> Vec:
    """A picture of PQ or HLG in BT.2020 as one for a display of BT.709."""
    p = src[0, 0]
    if transfer == "pq":
        r, g, b = (_from_pq(c) for c in (p.r, p.g, p.b))
    else:
        r, g, b = (_from_hlg(c) for c in (p.r, p.g, p.b))
        scene = 0.2627 * r + 0.678 * g + 0.0593 * b
        gain = pow(max(scene, 1e-6), 0.2) * (HLG_NITS / WHITE_NITS)  # to a display of 1000 nits
        r, g, b = r * gain, g * gain, b * gain
    brightest = max(max(r, g), max(b, 1e-6))
    soft = KNEE + (1 - KNEE) * (1.0 - exp((KNEE - brightest) / (1 - KNEE)))
    scale = where(brightest > KNEE, soft / brightest, 1.0)
    light = [c * scale for c in (r, g, b)]
    shown = [
        pow(clamp(a * light[0] + b_ * light[1] + c * light[2], 0.0, 1.0), 1 / 2.4)
        for a, b_, c in _GAMUT
    ]
    made = rgb(*shown)
    assert isinstance(made, Vec)
    return made.with_alpha(p.a)


TONEMAP = make_kernel(_tonemap, name="tonemap", domain="image")


def tonemap_stage(color: Color, after: Middle | None) -> Middle:
    """The stage that makes SDR of HDR, before whatever else is done."""
    return before(TONEMAP, {"transfer": "pq" if color.transfer == PQ else "hlg"}, after)


def check_tonemap(color: Color, name: str) -> None:
    """Refuse what is no HDR."""
    if not is_hdr(color):
        raise VideoError(f"{name}: tonemap is for HDR (PQ or HLG); this video says it is neither")
