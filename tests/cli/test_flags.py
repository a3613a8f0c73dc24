"""Filter flags: their order, their values, and what is said about wrong ones."""

from __future__ import annotations

import pytest

from dala.cli.flags import Flag, chain_of, spell, split_flags
from dala.cli.mistakes import UsageMistake
from dala.media.chain import filter_names, find_filter


def steps(text: str) -> list[str]:
    _, flags = split_flags(text.split())
    return [repr(step) for step in chain_of(flags).steps]


def test_the_order_of_the_flags_is_the_order_of_the_chain() -> None:
    assert steps("in out --sharpen --blur radius=3 --sharpen amount=0.2") == [
        "sharpen",
        "blur radius=3",
        "sharpen amount=0.2",
    ]


def test_what_is_no_filter_is_left_for_typer() -> None:
    line = "in.jpg --device cpu --blur 2 out.jpg --json --quality=80"
    rest, flags = split_flags(line.split())
    assert rest == ["in.jpg", "--device", "cpu", "out.jpg", "--json", "--quality=80"]
    assert flags == [Flag("blur", ("radius=2",))]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--blur", "blur"),
        ("--blur 5", "blur radius=5"),
        ("--blur=5", "blur radius=5"),
        ("--blur=radius=5", "blur radius=5"),
        ("--blur 5 sigma=2", "blur radius=5 sigma=2.0"),
        ("--brightness -0.1", "brightness value=-0.1"),
        ("--white-balance temperature=8000", "white_balance temperature=8000.0"),
        ("--white_balance tint=0.1", "white_balance tint=0.1"),
        ("--flip horizontal=no vertical=yes", "flip horizontal=False vertical=True"),
        ("--chroma-key color=10,20,30", "chroma_key color=(10.0, 20.0, 30.0)"),
        ("--chroma-key 10,20,30", "chroma_key color=(10.0, 20.0, 30.0)"),
        ("--resize width=64 interpolation=area", "resize width=64 interpolation='area'"),
        ("--warp-affine 1,0,0,0,1,0", "warp_affine matrix=(1.0, 0.0, 0.0, 0.0, 1.0, 0.0)"),
    ],
)
def test_values(typed: str, meant: str) -> None:
    assert steps(typed) == [meant]


def test_a_file_after_a_flag_is_a_file() -> None:
    rest, flags = split_flags(["--blur", "in.jpg", "--grayscale", "3.jpg", "out.jpg"])
    assert rest == ["in.jpg", "3.jpg", "out.jpg"]
    assert flags == [Flag("blur", ()), Flag("grayscale", ())]


def test_what_must_be_given_takes_the_next_word() -> None:
    rest, flags = split_flags(["a", "--lut", "film.cube", "b", "--blend", "logo.png", "alpha=0.2"])
    assert rest == ["a", "b"]
    assert flags == [Flag("lut", ("lut=film.cube",)), Flag("blend", ("top=logo.png", "alpha=0.2"))]


def test_after_two_dashes_nothing_is_a_flag() -> None:
    assert split_flags(["--blur", "--", "--blur", "x"]) == (
        ["--", "--blur", "x"],
        [Flag("blur", ())],
    )


def test_looks_are_spelled_out_in_their_place() -> None:
    noir = steps("--look noir")
    assert len(noir) > 1
    assert steps("--blur --look noir --invert") == ["blur", *noir, "invert"]


WRONG = {
    "--blur=soft": "--blur: radius must be a whole number in 0..100, got 'soft'",
    "--blur=": "--blur: radius must be a whole number in 0..100, got ''",
    "--blur 3 5": "--blur: 5 is the value of what? write name=value",
    "--grayscale=1": "--grayscale takes no values, got '1'",
    "--grayscale 1": "--grayscale takes no values, got '1'",
    "--look=nor": "--look: no look 'nor'; did you mean 'noir'?",
    "--blur radius=300": "--blur: radius must be a whole number in 0..100, got 300",
    "--blur radus=3": "--blur: unknown parameter 'radus'; it takes: radius, sigma; did you mean 'radius'?",
    "--blur radius=soft": "--blur: radius must be a whole number in 0..100, got 'soft'",
    "--blur radius=1 radius=2": "--blur: radius is given twice",
    "--lut": "--lut: parameter 'lut' is missing",
    "--lut no.cube": "--lut: lut: cannot read no.cube: No such file or directory",
    "--resize interpolation=lancos": "--resize: interpolation must be one of 'nearest'",
    "--flip horizontal=maybe": "--flip: horizontal must be true or false, got 'maybe'",
    "--look nor": "--look: no look 'nor'; did you mean 'noir'?",
    "--look": "--look needs a name or a file; dala looks lists the names",
    "--look no/such.look": "--look: cannot read the look 'no/such.look': No such file or directory",
    "--blend": "--blend: the picture top is missing; give top=…",
}


@pytest.mark.parametrize("typed", WRONG)
def test_mistakes_are_named(typed: str) -> None:
    with pytest.raises(UsageMistake) as caught:
        steps(typed)
    assert str(caught.value).startswith(WRONG[typed])


def test_strength() -> None:
    flags = split_flags(["--invert"])[1]
    assert chain_of(flags, 0.5).strength == 0.5
    with pytest.raises(UsageMistake, match=r"^--strength: .* number in 0\.\.1, got 1\.5"):
        chain_of(flags, 1.5)


def test_every_filter_is_a_flag_with_its_defaults() -> None:
    """What the kernels declare is what the flags take: nothing is written down twice."""
    for name in filter_names():
        kernel = find_filter(name)
        if kernel.inputs > 1 or any(p.required for p in kernel.params):
            continue
        (step,) = chain_of([Flag(name, ())]).steps
        # a photo is mostly made smaller
        own = {"interpolation": "area"} if name == "resize" else {}
        assert step.values == kernel.bind(own)
        assert spell(name) == name.replace("_", "-")
