"""Looking into kernels: values at a pixel, what print shows, what notebooks show, the words to import."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.dom import minidom

import numpy as np
import pytest

import dala
from dala import compute, gpu, language, media, video
from dala.errors import ArgumentError, KernelError, ShapeError
from dala.language import Image, Vec, luma, mix, rgb, x
from dala.language.kernel import make_kernel
from dala.language.vocabulary import VOCABULARY

pytestmark = pytest.mark.usefixtures("registry")
PHOTO = np.random.default_rng(2).integers(0, 256, (5, 7, 4), np.uint8)


def shaded(src: Image, amount: float = 0.5, reach: int = dala.static(2)) -> Vec:
    p = src[0, 0]
    shade = luma(p)
    dark = shade < 0.5
    beside = [src[k, 0].r for k in range(reach)]
    column, what = x, "text"
    result = mix(p.rgb, rgb(shade, shade, 1.0), amount)
    assert not isinstance(dark, bool) and beside and column is x and what  # symbols, all of them
    return result.with_alpha(p.a)


duotone = make_kernel(
    shaded, name="duotone"
)  # registered nowhere: other tests go through all kernels


def test_every_name_at_a_pixel(device: str) -> None:
    seen = dala.debug_kernel(duotone, [PHOTO], at=(3, 2), params={"amount": 0.25})
    pixel = PHOTO[2, 3] / 255
    grey = pixel[:3] @ (0.299, 0.587, 0.114)
    assert list(seen)[:3] == ["src", "amount", "reach"] and list(seen)[-1] == "return"
    assert (seen["amount"], seen["reach"], seen["column"]) == (0.25, 2, 3.0)
    assert seen["what"] == "'text'"
    np.testing.assert_allclose(seen["p"], pixel, atol=1e-6)
    np.testing.assert_allclose(seen["src"], pixel, atol=1e-6)
    assert seen["shade"] == pytest.approx(grey, abs=1e-5)
    assert seen["dark"] == float(grey < 0.5)
    np.testing.assert_allclose(seen["beside"], PHOTO[2, 3:5, 0] / 255, atol=1e-6)
    wanted = pixel[:3] * 0.75 + np.array([grey, grey, 1.0]) * 0.25
    np.testing.assert_allclose(seen["return"], [*wanted, pixel[3]], atol=1e-5)
    assert repr(seen).splitlines()[0] == "duotone at (3, 2)"
    assert sys.getprofile() is None


def test_built_in_kernels_and_rgb(device: str) -> None:
    photo = np.ascontiguousarray(PHOTO[..., :3])
    seen = dala.debug_kernel("sharpen", [photo], at=(1, 1))
    out = media.sharpen(photo.astype(np.float32) / 255)
    np.testing.assert_allclose(seen["return"][:3], out[1, 1], atol=1e-5)  # type: ignore[index]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("matmul", [PHOTO]), ArgumentError, "matmul is no image kernel"),
        ((duotone, []), ArgumentError, "give the images"),
        ((duotone, [PHOTO], (7, 0)), ShapeError, r"\(7, 0\) is outside of 7 × 5"),
        ((duotone, [PHOTO], "here"), ArgumentError, r"at is \(x, y\)"),
        ((duotone, [PHOTO], ("a", 1)), ArgumentError, r"at is \(x, y\)"),
    ],
)
def test_what_cannot_be_looked_at(
    arguments: tuple[object, ...], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        dala.debug_kernel(*arguments)  # type: ignore[arg-type]


def test_text_kernels_say_so() -> None:
    kernel = compute.register("as_text", "def as_text(src): return src[0, 0]")
    with pytest.raises(ArgumentError, match="given as text"):
        dala.debug_kernel(kernel, [PHOTO])


def test_an_error_in_a_kernel_keeps_its_line() -> None:
    @dala.kernel
    def sometimes(src: Image, fail: int = dala.static(0)) -> Vec:
        p = src[0, 0]
        if fail:
            raise ValueError("not like this")
        return p

    with pytest.raises(KernelError, match="not like this") as caught:
        dala.debug_kernel(sometimes, [PHOTO], params={"fail": 1})
    assert "raise ValueError" in str(caught.value)


def test_print_in_a_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    @dala.kernel
    def talks(src: Image, amount: float = 0.5) -> Vec:
        p = src[0, 0]
        print(src, p, p.r * amount + 1.0, sep="\n")
        return p

    assert talks.domain == "image"
    said = capsys.readouterr().out.splitlines()[:3]
    assert said == [
        "<image input0 of 4 channels: read it with src[0, 0]>",
        "<pixel r: input0[0, 0].r, g: input0[0, 0].g, b: input0[0, 0].b, a: input0[0, 0].a>",
        "<f32 (input0[0, 0].r * parameter0) + 1>",
    ]


# -- words to import, and dir() ----------------------------------------------------------------


def test_the_words_of_kernels_can_be_imported() -> None:
    assert set(VOCABULARY) <= set(language.__all__)
    for word, meaning in VOCABULARY.items():
        assert getattr(language, word) is meaning


def test_type_checkers_accept_the_kernel_of_the_readme(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    root = Path(__file__).parents[2]
    text = (root / "README.md").read_text(encoding="utf-8")
    block = next(b for b in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "duotone" in b)
    (tmp_path / "kernel.py").write_text(block)
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir"]
    done = subprocess.run(
        [*command, str(tmp_path / "cache"), "--config-file", "", str(tmp_path / "kernel.py")],
        cwd=root / "src", capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", [dala, compute, gpu, media, video, language])
def test_dir_lists_what_is_public(module: object) -> None:
    assert dir(module) == sorted(module.__all__)  # type: ignore[attr-defined]


# -- notebooks ---------------------------------------------------------------------------------


def test_buffers_in_a_notebook() -> None:
    image = compute.from_array(np.zeros((900, 1300, 4), np.uint8))
    shown = image._repr_html_()
    assert "dala buffer (900, 1300, 4) u8" in shown and "data:image/png;base64," in shown
    assert len(shown) < 100_000
    assert "<img" in compute.from_array(np.zeros((20, 20), np.uint8))._repr_html_()
    assert "<img" in compute.from_array(np.full((20, 20, 4), np.nan, np.float32))._repr_html_()
    assert "<img" in compute.from_array(np.zeros((20, 20, 4), np.uint16))._repr_html_()
    numbers = compute.buffer([1.0, 2.5])
    assert "[1.  2.5]" in numbers._repr_html_() and "<img" not in numbers._repr_html_()
    numbers.close()
    assert "freed" in numbers._repr_html_()


def test_pipelines_in_a_notebook_are_drawn() -> None:
    a, b = (compute.buffer_zeros((16, 16, 4), "u8") for _ in range(2))
    pipeline = compute.pipeline()
    assert pipeline._repr_svg_() is None
    pipeline.add({"kernel": "invert", "inputs": [a], "output": b}).add({"op": "barrier"})
    pipeline.add({"kernel": "sharpen", "inputs": [b], "output": a})
    drawing = minidom.parseString(pipeline._repr_svg_() or "")
    words = [n.firstChild.data for n in drawing.getElementsByTagName("text")]  # type: ignore[union-attr]
    assert {"invert", "sharpen", "cut: a barrier was asked for"} <= set(words)
    assert words[0].startswith("3 stages → 2 passes on ")
    pipeline.close()
    assert pipeline._repr_svg_() is None


def test_devices_in_a_notebook() -> None:
    shown = dala.device("reference")._repr_html_()
    assert shown.startswith("<table>") and "numpy" in shown and "max-buffer-size" in shown


def test_what_a_kernel_prints_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    @dala.kernel
    def talking(src):  # type: ignore[no-untyped-def]
        p = src[0, 0]
        print("the pixel", p)
        half = p.rgb * 0.5
        third = p.rgb / 3.0
        return (half + third).with_alpha(p.a)

    capsys.readouterr()
    seen = dala.debug_kernel(talking, [np.full((2, 2, 4), 51, np.uint8)])
    assert len(seen) == 5
    assert capsys.readouterr().out.count("the pixel") == 1
