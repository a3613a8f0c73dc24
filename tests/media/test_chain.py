"""Chains: what users write, what is refused, and with which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from PIL import Image
from precision import assert_fused_is_unfused
from searching import examples
from skimage import data

import dala
from dala import compute, media
from dala.errors import (
    ArgumentError,
    KernelNotFoundError,
    LookError,
    MediaError,
    ParameterError,
    ShapeError,
)
from dala.media import Chain
from dala.media.chain import filter_names

PHOTO = np.ascontiguousarray(data.astronaut()[:60, 100:180])


def test_every_way_to_write_one(registry: None) -> None:
    @dala.kernel
    def mine(src):  # type: ignore[no-untyped-def]
        return src[0, 0]

    inner = Chain.of(["invert"])
    chain = Chain.of(
        [
            "grayscale",
            ("blur", {"radius": 2}),
            ["sharpen", {"amount": 1}],
            mine,
            (mine, {}),
            inner,
            inner.steps[0],
            "noir",
        ]
    )
    names = [step.name for step in chain.steps]
    noir = [step.name for step in Chain.of("noir").steps]
    assert names == ["grayscale", "blur", "sharpen", "mine", "mine", "invert", "invert", *noir]
    assert Chain.of(chain) is chain
    assert [s.name for s in Chain.of(("blur", {"radius": 2})).steps] == ["blur"]
    assert [s.name for s in Chain.of("blur").steps] == ["blur"]
    assert len(Chain.of([])) == 0 and repr(Chain.of([])) == "<dala chain: nothing>"
    assert dict(chain.steps[1].params) == {"radius": 2}
    assert chain.steps[1].values["radius"] == 2 and chain.steps[1].values["sigma"] is None


def test_it_is_checked_once_and_stays_as_it_is() -> None:
    params = {"radius": 2}
    chain = Chain.of([("blur", params)])
    params["radius"] = 99
    assert chain.steps[0].values["radius"] == 2 and chain.steps[0].params["radius"] == 2
    with pytest.raises(TypeError):
        chain.steps[0].params["radius"] = 3  # type: ignore[index]


def test_structure() -> None:
    def structure(**params: object) -> object:
        return Chain.of([("blur", params)]).structure

    assert structure(radius=2) == structure(radius=2)
    assert structure(radius=2) != structure(radius=3)
    assert structure(radius=2) != structure(radius=2, sigma=1.0)
    assert structure(radius=2, sigma=2.0) == structure(radius=2, sigma=1.0)
    look = Chain.of("noir")
    assert look.structure != look.at(0.5).structure == look.at(0.2).structure
    assert hash(look.structure) == hash(Chain.of("noir").structure)
    cube, curve = np.zeros((2, 2, 2, 3)), np.zeros((5, 3))
    assert (
        Chain.of([("lut", {"lut": cube})]).structure
        != Chain.of([("lut", {"lut": curve})]).structure
    )


@pytest.mark.parametrize(
    ("chain", "size"),
    [
        ([], (640, 480)),
        (["blur", ("rotate", {"degrees": 30})], (640, 480)),
        ([("resize", {"width": 320})], (320, 240)),
        ([("resize", {"height": 100})], (133, 100)),
        ([("resize", {"width": 7, "height": 9})], (7, 9)),
        ([("resize", {"width": 1})], (1, 1)),
        ([("crop", {"x": 40, "y": 80})], (600, 400)),
        ([("crop", {"x": 40, "width": 10})], (10, 480)),
        ([("resize", {"width": 320}), ("crop", {"x": 20})], (300, 240)),
    ],
)
def test_sizes(chain: Any, size: tuple[int, int]) -> None:
    assert Chain.of(chain).size_after(640, 480) == size


def test_a_width_of_ones_own_is_no_size(registry: None) -> None:
    @dala.kernel
    def framed(src, width: int = dala.static(2), height: int = dala.static(2)):  # type: ignore[no-untyped-def]
        return src[width, height]

    assert Chain.of([framed]).size_after(640, 480) == (640, 480)
    assert media.apply_filter(PHOTO, framed).shape == PHOTO.shape


def test_adding_to_a_pipeline() -> None:
    """As dala.video does it: between other stages, through scratch."""
    chain = Chain.of([("blur", {"radius": 1}), ("resize", {"width": 40}), "invert"])
    source = compute.from_array(media.chroma_key(PHOTO))
    first, last = compute.scratch(source.shape, "u8"), compute.scratch((30, 40, 4), "u8")
    output = compute.buffer_zeros((30, 40, 4), "u8")
    pipeline = compute.pipeline()
    pipeline.add({"kernel": "sepia", "inputs": [source], "output": first})
    added = chain.add_to(pipeline, first, last)
    pipeline.add({"kernel": "grayscale", "inputs": [last], "output": output}).run()
    assert added.stages == [1, 2, 3] and added.images == []
    assert np.array_equal(
        output.read(), media.apply_filters(source, ["sepia", chain, "grayscale"]).read()
    )
    with pytest.raises(ShapeError, match=r"the chain makes \(30, 40, 4\) u8 of \(60, 80, 4\), got"):
        chain.add_to(compute.pipeline(), source, compute.buffer_zeros((60, 80, 4), "u8"))
    with pytest.raises(
        ShapeError, match=r"a chain reads \(H, W, 4\), \(H, W, 1\) or \(H, W\), got"
    ):
        chain.add_to(compute.pipeline(), compute.buffer_zeros((9,), "u8"), output)


def test_strength() -> None:
    assert np.array_equal(media.apply_filters(PHOTO, Chain.of("noir").at(0)), PHOTO)
    full, half = (
        media.apply_filters(PHOTO, Chain.of("noir").at(s)).astype(float) for s in (1, 0.5)
    )
    assert np.abs(half - (full + PHOTO) / 2).max() <= 1
    ghost = media.chroma_key(PHOTO, color=(230, 90, 60))  # alpha is mixed like any channel
    mixed = media.apply_filters(ghost, Chain.of(["invert"]).at(0.5))
    assert np.array_equal(mixed[..., 3], ghost[..., 3])
    for wrong in (1.5, -0.1, True, "half", None):
        with pytest.raises(ParameterError, match=r"a chain's strength is a number in 0..1, got"):
            Chain.of("noir").at(wrong)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="changes the size has no strength between 0 and 1"):
        media.apply_filters(PHOTO, Chain.of([("resize", {"width": 9})]).at(0.5))
    with pytest.raises(
        ArgumentError, match="filter 1: a chain with a strength of its own cannot be part"
    ):
        Chain.of([Chain.of("noir").at(0.5)])
    assert repr(Chain.of(["invert"]).at(0.5)) == "<dala chain: invert, at 0.5>"


@pytest.mark.parametrize(
    ("chain", "error", "message"),
    [
        (
            ["invert", "blurr"],
            KernelNotFoundError,
            "filter 2: no filter or look is named 'blurr'; did you mean 'blur'",
        ),
        (
            "cinematik",
            KernelNotFoundError,
            "no filter or look is named 'cinematik'; did you mean 'cinematic'",
        ),
        (
            [("blur", {"radus": 3})],
            ParameterError,
            "filter 1: blur: unknown parameter 'radus'; it takes: radius, sigma; did you",
        ),
        (
            [("warp_affine", {})],
            ParameterError,
            "filter 1: warp_affine: parameter 'matrix' is missing",
        ),
        ([("blend", {})], ParameterError, "filter 1: blend: the picture top is missing; give top="),
        ([("softmax", {})], ArgumentError, "filter 1: softmax is no filter: it works on tensors"),
        (
            ["generate_noise"],
            ArgumentError,
            "filter 1: generate_noise is no filter: it makes a picture of nothing",
        ),
        (
            [("blur", 3)],
            ArgumentError,
            r"filter 1: expected a name or a pair such as \('blur', \{'radius': 3\}\), got \('blur', 3\)",
        ),
        ([None], ArgumentError, "filter 1: expected a name or a pair"),
        (None, ArgumentError, "filters are a list such as .* or a look's name, got NoneType"),
        (b"blur", ArgumentError, "got bytes"),
        ({"blur": 3}, ArgumentError, "got dict"),
        (
            [("blend", {"top": 3})],
            ArgumentError,
            "filter 1: blend: top: expected a picture .*got int",
        ),
        (
            [("blend", {"top": np.zeros((2, 2), int)})],
            dala.errors.DTypeError,
            "filter 1: blend: top: expected uint8",
        ),
        (
            [("blend", {"top": "nowhere.png"})],
            MediaError,
            "filter 1: blend: top: cannot read the picture 'nowhere.png'",
        ),
        (Path("nowhere"), LookError, "cannot read the look 'nowhere': No such file"),
    ],
)
def test_refused(chain: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Chain.of(chain)


def test_every_filter_can_be_in_a_chain() -> None:
    assert {"blur", "blend", "lut", "resize", "background_blur"} <= set(filter_names())
    assert not {"matmul", "generate_noise", "nv12_to_rgba"} & set(filter_names())


STEPS = st.sampled_from(
    [
        ("blur", {"radius": 1}),
        ("blur", {"radius": 7, "sigma": 2.0}),
        "sharpen",
        "grayscale",
        "sepia",
        ("tone", {"contrast": 0.5, "fade": 0.1}),
        ("vibrance", {"value": 0.8}),
        "grain",
        ("glow", {"radius": 3}),
        ("median", {}),
        ("rotate", {"degrees": 30}),
        ("flip", {"vertical": True}),
        ("pixelate", {"size": 3}),
        ("resize", {"width": 11}),
        ("resize", {"height": 23, "interpolation": "lanczos"}),
        ("crop", {"width": 3, "height": 3}),
        ("blend", {"top": np.full((5, 4, 3), (200, 30, 90), np.uint8), "mode": "overlay"}),
        "chroma_key",
        ("background_blur", {"mask": np.eye(9, dtype=bool), "radius": 2}),
        ("lut", {"lut": np.linspace([1.0] * 3, [0.0] * 3, 4)}),
    ]
)


@settings(max_examples=examples(40))
@given(
    chain=st.lists(STEPS, max_size=5),
    size=st.tuples(st.integers(4, 40), st.integers(4, 40)),
    bgr=st.booleans(),
    is_float=st.booleans(),
)
def test_any_chain_is_its_filters_one_by_one(
    chain: list[Any], size: tuple[int, int], bgr: bool, is_float: bool
) -> None:
    try:
        Chain.of(chain).size_after(size[1], size[0])
    except ShapeError:  # a crop may not fit into what was made smaller before
        reject()
    check_one_by_one(chain, size, bgr, is_float)


def test_a_sampled_image_where_sizes_meet() -> None:
    top = np.random.default_rng(1).integers(0, 256, (5, 4, 3), np.uint8)
    chain = [("blur", {"radius": 1}), ("resize", {"width": 11}), ("blend", {"top": top})]
    check_one_by_one(chain, (4, 22), bgr=False, is_float=False)


def check_one_by_one(chain: list[Any], size: tuple[int, int], bgr: bool, is_float: bool) -> None:
    image = np.random.default_rng(0).integers(0, 256, (*size, 4), dtype=np.uint8)
    if is_float:
        image = (image / 255).astype(np.float32)
    order = [2, 1, 0, 3] if bgr else [0, 1, 2, 3]
    wanted = image[..., order]
    for item in chain:
        if (
            isinstance(item, tuple) and item[0] == "blend" and bgr
        ):  # an array, so BGR like the picture
            item = ("blend", {**item[1], "top": item[1]["top"][..., ::-1]})
        wanted = media.apply_filters(wanted, [item])
    result = media.apply_filters(image, chain, channels="bgra" if bgr else None)
    assert_fused_is_unfused(result[..., order], wanted, len(chain))


# -- further images ----------------------------------------------------------------------------


def test_further_images_of_every_kind(tmp_path: Path) -> None:
    top = np.ascontiguousarray(data.coffee()[:60, :80])
    wanted = media.blend(PHOTO, top)
    path = tmp_path / "top.png"
    Image.fromarray(top).save(path)
    rgba = np.dstack([top, np.full(top.shape[:2], 255, np.uint8)])
    for kind in (
        Image.fromarray(top),
        rgba,
        compute.from_array(rgba),
        str(path),
        path,
        top[:, ::-1][:, ::-1],
    ):
        assert np.array_equal(media.blend(PHOTO, kind), wanted)
    floats = media.blend(PHOTO, (top / 255).astype(np.float32)).astype(int)
    assert np.abs(floats - wanted).max() <= 1


def test_further_images_are_scaled() -> None:
    mask = np.zeros((6, 8), bool)
    mask[:, 4:] = True
    result = media.background_replace(PHOTO, mask, np.zeros((3, 3), np.uint8))
    assert (result[:, :30] == 0).all() and np.array_equal(result[:, 50:], PHOTO[:, 50:])
    chain: Any = [("resize", {"width": 40}), ("blend", {"top": PHOTO, "alpha": 1.0})]
    assert np.array_equal(media.apply_filters(PHOTO, chain), media.resize(PHOTO, 40))


def test_a_grey_picture_takes_the_luma_of_further_images() -> None:
    grey = np.zeros((60, 80), np.uint8)
    result = media.blend(grey, PHOTO, alpha=1.0)
    assert np.abs(result.astype(int) - media.grayscale(PHOTO)[..., 0]).max() <= 1
