"""Whole programs at random: kernels as text, and pipelines of them.

A kernel is a list of assignments. Each takes from what is there already (pixels, numbers, whole numbers,
conditions, images) and adds something; a result is what the last ones made of it. So programs nest, share,
leave images unread, and read where a pixel says.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

SIZES = [(1, 1), (1, 7), (9, 1), (2, 3), (5, 16), (7, 17), (16, 31), (21, 40), (33, 67)]
SHAPES = [(1,), (17,), (5, 7), (2, 3, 4), (300,), (33, 61)]
DTYPES = ["f32", "f32", "f64", "s32", "s64", "u32", "u8"]
STEPS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Array:
    """What a buffer is."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def grey(self) -> bool:
        return len(self.shape) == 2 or self.shape[2] == 1


@dataclass(frozen=True)
class Stage:
    """A kernel and its buffers: 0 and 1 are the sources, 2 + k is what stage k writes."""

    text: str
    inputs: tuple[int, ...]
    output: Array
    named: bool = True  # else a scratch buffer
    traced: bool = False  # defined as a Python function instead of text
    params: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Case:
    """A pipeline on two sources."""

    domain: str
    sources: tuple[Array, Array]
    stages: tuple[Stage, ...]
    seed: int = 0

    def __str__(self) -> str:
        lines = [f"{self.domain} of {self.sources[0]} and {self.sources[1]}, seed {self.seed}"]
        for k, s in enumerate(self.stages):
            kind = "named" if s.named else "scratch"
            how = "a function" if s.traced else "text"
            lines += [
                f"-- {2 + k}: {s.inputs} → {s.output}, {kind}, {how}, {dict(s.params)}",
                s.text,
            ]
        return "\n".join(lines)


def random_case(seed: int) -> Case:
    """The program of a seed."""
    rng = random.Random(seed)
    if rng.random() < 0.25:
        return _tensor_case(rng, seed)
    size = rng.choice(SIZES)
    arrays = [_image(rng, size), _image(rng, size if rng.random() < 0.8 else rng.choice(SIZES))]
    stages: list[Stage] = []
    count = rng.choice([1, 1, 1, 2, 2, 3, 4])
    for number in range(count):
        moving = (
            rng.random() < 0.15
        )  # reads computed positions alone, so its output may have any size
        output = _image(rng, rng.choice(SIZES) if moving else size)
        alike = [k for k, a in enumerate(arrays) if moving or a.shape[:2] == output.shape[:2]]
        newest = [k for k in alike if k >= len(arrays) - 2]
        wanted = rng.choice([1, 1, 2]) if alike else 0
        inputs = tuple(
            rng.choice(newest or alike) for _ in range(wanted if rng.random() > 0.03 else 0)
        )
        other = rng.randrange(len(arrays))  # one more, that is read at computed positions
        kernel = _ImageKernel(rng, [arrays[k] for k in inputs], arrays[other], output, moving)
        text = kernel.write(f"k{number}")
        read = (*inputs, other) if kernel.asks_other else inputs
        last = number == count - 1
        stages.append(
            Stage(
                text, read, output, last or rng.random() < 0.4, rng.random() < 0.4,
                tuple(kernel.params.items()),
            )
        )  # fmt: skip
        arrays.append(output)
    return Case("image", (arrays[0], arrays[1]), tuple(stages), seed)


def _image(rng: random.Random, size: tuple[int, int]) -> Array:
    shape = rng.choice([(*size, 4)] * 4 + [size, (*size, 1)])
    return Array(shape, rng.choice(["u8", "u8", "f32"]))


@dataclass
class _Pixels:
    """An image that a kernel can read."""

    name: str
    mip: int
    fixed: bool  # whether it may be read at an offset
    grey: bool = False


@dataclass
class _Kernel:
    """What every kind of kernel is written with: names by kind, and lines."""

    rng: random.Random
    lines: list[str] = field(default_factory=list)
    params: dict[str, float] = field(default_factory=dict)
    declared: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, value: str) -> str:
        """A line that gives a value a name."""
        self.count += 1
        self.lines.append(f"    v{self.count} = {value}")
        return f"v{self.count}"

    def number(self, low: float = -2.0, high: float = 2.0) -> str:
        if self.rng.random() < 0.25:
            return str(self.rng.choice([0.0, 1.0, 0.5, 0.25, -1.0, 2.0, 1 / 3]))
        return repr(round(self.rng.uniform(low, high), 3))

    def parameter(self) -> str:
        """A number that is given when the kernel runs."""
        name = f"p{len(self.params)}"
        if self.rng.random() < 0.5:
            self.declared.append(f"{name}: float = 0.5")
            self.params[name] = round(self.rng.uniform(-2, 2), 3)
        else:
            self.declared.append(f"{name}: int = 1")
            self.params[name] = self.rng.randint(-9, 9)
        return name

    def text(self, name: str, inputs: Sequence[str], result: str) -> str:
        head = f"def {name}({', '.join([*inputs, *self.declared])}):"
        return "\n".join([head, *self.lines, f"    return {result}"])


class _ImageKernel(_Kernel):
    """A kernel of images: pixels, numbers and whole numbers, each with the sizes of what it reads."""

    def __init__(
        self, rng: random.Random, inputs: Sequence[Array], other: Array, output: Array, moving: bool
    ) -> None:
        super().__init__(rng)
        self.output, self.inputs = output, inputs
        self.images = [_Pixels(f"i{k}", 0, not moving, a.grey) for k, a in enumerate(inputs)]
        self.other = _Pixels("far", 0, False, other.grey)
        self.asks_other = bool(not inputs or rng.random() < 0.3)
        if self.asks_other:
            self.images.append(self.other)
        # names of values, and the sizes of the images they read
        self.pixels: dict[str, frozenset[int]] = {}
        self.numbers: dict[str, frozenset[int]] = {}
        self.wholes: dict[str, frozenset[int]] = {"x": frozenset(), "y": frozenset()}

    def write(self, name: str) -> str:
        rng = self.rng
        if rng.random() < 0.5:
            parameter = self.parameter()
            kind = self.numbers if isinstance(self.params[parameter], float) else self.wholes
            kind[parameter] = frozenset()
        self.pixel()
        for _ in range(rng.choice([1, 2, 4, 6, 9, 14])):
            rng.choice(
                [self.pixel, self.pixel, self.mixed, self.mixed, self.scalar, self.scalar,
                 self.whole, self.intermediate, self.long_sum, self.average, self.window]
            )()  # fmt: skip
        inputs = [i.name for i in self.images if i.name.startswith("i")]
        names = [*inputs, "far"] if self.asks_other else inputs
        return self.text(name, names, self.result())

    def result(self) -> str:
        fits = [p for p, mips in self.pixels.items() if max(mips, default=0) <= 2]
        numbers = [s for s, mips in self.numbers.items() if max(mips, default=0) <= 2]
        if self.output.grey and not all(i.grey for i in self.images):
            return self.rng.choice(numbers[-3:]) if numbers else f"luma({fits[-1]})"
        if numbers and self.rng.random() < 0.15:
            return numbers[-1]
        return self.rng.choice(fits[-3:])

    # -- what is there --------------------------------------------------------------------------

    def _take(self, there: dict[str, frozenset[int]]) -> tuple[str, frozenset[int]]:
        name = self.rng.choice(list(there)[-6:])
        return name, there[name]

    def _scalar(self) -> tuple[str, frozenset[int]]:
        kind = self.rng.random()
        if kind < 0.45 and self.numbers:
            return self._take(self.numbers)
        if kind < 0.7 and self.pixels:
            name, mips = self._take(self.pixels)
            return f"{name}.{self.rng.choice('rgba')}", mips
        if kind < 0.8:
            axis = self.rng.choice(["x", "y"])
            return f"{axis} / {'width' if axis == 'x' else 'height'}", frozenset()
        if kind < 0.85:
            image = self.rng.choice(self.images)
            return f"{image.name}.{self.rng.choice(['width', 'height'])} * 0.02", frozenset()
        return self.number(), frozenset()

    def _whole(self) -> tuple[str, frozenset[int]]:
        return self._take(self.wholes)

    def _condition(self) -> tuple[str, frozenset[int]]:
        (a, first), (b, second) = self._scalar(), self._scalar()
        if self.rng.random() < 0.3:
            (a, first), b, second = self._whole(), str(self.rng.randint(-3, 20)), frozenset()
        sign = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
        if self.rng.random() < 0.15:
            return f"~({a} {sign} {b})", first | second
        if self.rng.random() < 0.15:
            return f"(({a} {sign} {b}) & (x > y))", first | second
        return f"({a} {sign} {b})", first | second

    # -- what is added --------------------------------------------------------------------------

    def pixel(self) -> None:
        """Read one: at an offset, at a computed position, or between pixels."""
        rng = self.rng
        image = rng.choice(self.images)
        kind = rng.random()
        if kind < 0.5 and image.fixed:
            far = rng.choice([0, 0, 1, 2, 9])
            dx, dy = rng.randint(-far, far), rng.randint(-far, far)
            self.pixels[self.add(f"{image.name}[{dx}, {dy}]")] = frozenset({image.mip})
            return
        if kind < 0.75:
            (column, a), (row, b) = self._position(), self._position()
            self.pixels[self.add(f"{image.name}.at({column}, {row})")] = a | b
            return
        (u, a), (v, b) = self._place("x"), self._place("y")
        self.pixels[self.add(f"{image.name}.sample({u}, {v})")] = a | b

    def _position(self) -> tuple[str, frozenset[int]]:
        if self.rng.random() < 0.7:
            name, mips = self._whole()
            return self.rng.choice([name, f"{name} + {self.rng.randint(-4, 4)}"]), mips
        name, mips = self._scalar()
        return f"floor({name} * {self.number(1, 40)})", mips

    def _place(self, axis: str) -> tuple[str, frozenset[int]]:
        kind = self.rng.random()
        if kind < 0.25:
            return self.rng.choice([axis, f"{axis} * 0.5", f"{axis} + 0.25", "0.75"]), frozenset()
        name, mips = self._scalar()
        if kind < 0.6:  # a displacement
            return f"{axis} + {name} * {self.number(-5, 5)}", mips
        return f"{axis} * {self.number(0.2, 2)} + {name}", mips

    def mixed(self) -> None:
        """A pixel made of others."""
        rng = self.rng
        (p, a), (q, b), (s, c) = self._take(self.pixels), self._take(self.pixels), self._scalar()
        condition, d = self._condition()
        low, high = sorted((rng.uniform(-0.5, 0.5), rng.uniform(0.2, 1.5)))
        value, mips = rng.choice([
            (f"{p} * {s}", a | c), (f"{p} + {q}", a | b), (f"{p} - {q} * 0.5", a | b),
            (f"({p} + {q}) * 0.5", a | b), (f"{p} * {self.number()} + {self.number()}", a),
            (f"mix({p}, {q}, {s})", a | b | c), (f"where({condition}, {p}, {q})", a | b | d),
            (f"where({condition}, {p}, {self.number()})", a | d), (f"min({p}, {q})", a | b),
            (f"max({p}, {q}, {self.number()})", a | b), (f"abs({p} - {q})", a | b),
            (f"clamp({p}, {low:.3f}, {high:.3f})", a), (f"1.0 - {p}", a),
            (f"(1 - {p}.rgb).with_alpha({q}.a)", a | b), (f"({p}.rgb * {s}).with_alpha({p}.a)", a | c),
            (f"rgba({p}.b, {q}.g, {s}, {q}.a)", a | b | c), (f"rgba({s}, {s}, {s})", c),
            (f"{p} * clamp({s}, 0.0, 1.0)", a | c), (f"half_precision({p} - {q})", a | b),
            (f"step({self.number()}, {p})", a), (f"smoothstep(0.1, 0.8, {p})", a),
        ])  # fmt: skip
        self.pixels[self.add(value)] = mips

    def scalar(self) -> None:
        rng = self.rng
        (s, a), (t, b), (p, c), (i, d) = (
            self._scalar(), self._scalar(), self._take(self.pixels), self._whole()
        )  # fmt: skip
        condition, e = self._condition()
        value, mips = rng.choice([
            (f"{s} + {t}", a | b), (f"{s} * {t}", a | b), (f"{s} - {t} * {self.number()}", a | b),
            (f"{s} / ({t} * {t} + 0.5)", a | b), (f"luma({p})", c), (f"min({s}, {t})", a | b),
            (f"max({s}, {t})", a | b), (f"where({condition}, {s}, {t})", a | b | e),
            (f"floor({s} * 7.3) / 7.3", a), (f"fract({s} * 3.7)", a), (f"abs({s})", a),
            (f"sqrt(abs({s}))", a), (f"exp(clamp({s}, -3.0, 3.0))", a), (f"sin({s} * 5.0)", a),
            (f"log(abs({s}) + 0.1)", a), (f"tanh({s})", a), (f"atan2({s}, abs({t}) + 0.1)", a | b),
            (f"pow(abs({s}) + 0.01, 1.7)", a), (f"({s}) ** 2", a), (f"f32({i}) * 0.03", d),
            (f"f32(u8({s} * 255.0)) / 255.0", a), (f"f32(s32({s} * 9.3))", a), (f"sign({s})", a),
            (f"f32(u32(abs({s}) * 90.0) >> 2) * 0.1", a), (f"clamp({s}, 0.0, 1.0)", a),
            (f"round({s} * 11.3) * 0.1", a), (f"({s}) % 0.7", a), (f"-({s})", a), (f"f32({i} & 1)", d),
            (f"dot({p}.rgb, rgb(0.2, {s}, 0.5))", a | c), (f"sum({p})", c), (f"cos({s} + {t})", a | b),
        ])  # fmt: skip
        self.numbers[self.add(value)] = mips

    def whole(self) -> None:
        rng = self.rng
        (i, a), (j, b), (s, c) = self._whole(), self._whole(), self._scalar()
        k = rng.randint(1, 9)
        value, mips = rng.choice([
            (f"{i} + {j}", a | b), (f"{i} - {j}", a | b), (f"{i} * {k}", a), (f"{i} // {k}", a),
            (f"{i} % {k}", a), (f"{i} & 7", a), (f"{i} ^ {j}", a | b), (f"{i} >> 1", a),
            (f"width - 1 - {i}", a), (f"s32({s} * {self.number(2, 20)})", c), (f"-{i}", a),
            (f"min({i}, {j})", a | b), (f"max({i}, {k})", a), (f"abs({i} - {j})", a | b),
            (f"where({i} > {j}, {i}, {k})", a | b), (f"x + y * {k}", frozenset()),
            (f"{i} + {i} - {j}", a | b),
        ])  # fmt: skip
        self.wholes[self.add(value)] = mips

    def intermediate(self) -> None:
        """An image between, of any size that what it reads allows; often nobody reads it."""
        rng = self.rng
        kind = self.pixels if rng.random() < 0.7 or not self.numbers else self.numbers
        value, mips = self._take(kind)
        lowest, highest = max(max(mips, default=0) - 2, 0), min(min(mips, default=2) + 1, 3)
        if lowest > highest:
            return
        mip = rng.choice([lowest, highest, 0 if lowest == 0 else lowest])
        given = [value, str(STEPS[mip])] if mip or rng.random() < 0.2 else [value]
        if rng.random() < 0.15:
            given = [value, str(STEPS[mip]), "1"]
        name = self.add(f"intermediate({', '.join(given)})")
        self.images.append(_Pixels(name, mip, True))
        if rng.random() < 0.7:
            self.pixels[self.add(f"{name}[{rng.randint(-2, 2)}, {rng.randint(-1, 1)}]")] = (
                frozenset({mip})
            )

    def long_sum(self) -> None:
        """A sum, or a chain of choices, in a loop."""
        rng = self.rng
        images = [i for i in self.images if i.fixed]
        if not images or rng.random() > 0.4:
            return
        image, terms, wide = rng.choice(images), rng.choice([3, 9, 25, 60]), rng.randint(1, 7)
        read = f"{image.name}[k % {wide} - {wide // 2}, k // {wide} - 2]"
        term, scale = rng.choice([
            (f"{{}} + {read}", 1 / (terms + 1)), (f"{{}} + {read} * (0.1 * k / {terms})", 1.0),
            (f"max({{}}, {read})", 1.0), (f"min({{}}, {read} + 0.01 * k)", 1.0),
            (f"where({read}.r > 0.02 * k, {{}}, {read})", 1.0), (f"abs({{}} - {read})", 1.0),
        ])  # fmt: skip
        name = self.add(f"{image.name}[0, 0]")
        self.lines += [f"    for k in range({terms}):", f"        {name} = {term.format(name)}"]
        self.pixels[name] = frozenset({image.mip})
        if scale != 1.0:
            self.pixels[self.add(f"{name} * {scale!r}")] = frozenset({image.mip})

    def average(self) -> None:
        rng = self.rng
        images = [i for i in self.images if i.fixed]
        if not images:
            return
        image, reach = rng.choice(images), rng.choice([1, 1, 2, 6, 13])
        across = rng.random() < 0.5
        taps = [f"[{k}, 0]" if across else f"[0, {k}]" for k in range(-reach, reach + 1)]
        name, c = self._scalar() if rng.random() < 0.2 else ("", frozenset[int]())
        weights = [self.number(0, 3) for _ in taps]
        if name:
            weights = [f"abs({name}) + {w}" for w in weights]
        listed = ", ".join(image.name + t for t in taps)
        value = self.add(f"average(({listed}), ({', '.join(weights)}))")
        self.pixels[value] = frozenset({image.mip}) | c

    def window(self) -> None:
        """The same of every pixel around: minima and maxima, or a sharpening."""
        rng = self.rng
        images = [i for i in self.images if i.fixed]
        if not images:
            return
        image = rng.choice(images)
        around = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
        reads = [f"{image.name}[{dx}, {dy}]" for dx, dy in rng.sample(around, rng.randint(2, 9))]
        middle = f"{image.name}[0, 0]"
        value = rng.choice([
            f"min({', '.join(reads)})", f"max({', '.join(reads)})",
            f"max({middle}, min({', '.join(reads)}))", f"({' + '.join(reads)}) * {1 / len(reads)!r}",
            f"{middle} + ({middle} * {len(reads)} - ({' + '.join(reads)})) * {self.number(0, 1)}",
        ])  # fmt: skip
        self.pixels[self.add(value)] = frozenset({image.mip})


# -- tensors -------------------------------------------------------------------------------------


def _tensor_case(rng: random.Random, seed: int) -> Case:
    shape, dtype = rng.choice(SHAPES), rng.choice(DTYPES)
    arrays = [Array(shape, dtype), Array(shape, dtype)]
    stages: list[Stage] = []
    count = rng.choice([1, 1, 2, 3])
    for number in range(count):
        output = Array(shape, dtype if rng.random() < 0.7 else rng.choice(DTYPES))
        inputs = tuple(rng.randrange(len(arrays)) for _ in range(rng.choice([1, 2])))
        kernel = _TensorKernel(rng, [arrays[k] for k in inputs], output)
        named = number == count - 1 or rng.random() < 0.4
        text = kernel.write(f"k{number}")
        stages.append(
            Stage(text, inputs, output, named, rng.random() < 0.4, tuple(kernel.params.items()))
        )
        arrays.append(output)
    return Case("tensor", (arrays[0], arrays[1]), tuple(stages), seed)


class _TensorKernel(_Kernel):
    """A kernel of tensors: all numbers have the output's type, converted where they are read."""

    def __init__(self, rng: random.Random, inputs: Sequence[Array], output: Array) -> None:
        super().__init__(rng)
        self.inputs, self.output = inputs, output
        self.is_float = output.dtype in ("f32", "f64")
        self.values: list[str] = []

    def write(self, name: str) -> str:
        rng = self.rng
        rank = len(self.output.shape)
        for k, array in enumerate(self.inputs):
            at = ", ".join(
                f"index({a}) * {rng.randint(-2, 2)} + {rng.randint(-3, 3)}" for a in range(rank)
            )
            read = rng.choice([f"i{k}", f"i{k}", f"i{k}.at({at})"])
            cast = self.output.dtype if array.dtype != self.output.dtype else ""
            self.values.append(self.add(f"{cast}({read})" if cast else f"{read} + 0"))
        for _ in range(rng.choice([1, 3, 6, 10])):
            self.values.append(self.add(self._step(rank)))
        if rng.random() < 0.2:
            value = self.values[-1]
            self.lines += [f"    for k in range({rng.choice([5, 40])}):"]
            self.lines += [f"        {value} = {value} + {rng.choice(self.values)}"]
        inputs = [f"i{k}: Tensor" for k in range(len(self.inputs))]
        return self.text(name, inputs, self.values[-1])

    def _step(self, rank: int) -> str:
        rng, kind = self.rng, self.output.dtype
        a, b = rng.choice(self.values[-5:]), rng.choice(self.values)
        k = rng.randint(1, 9)
        choices = [
            f"{a} + {b}", f"{a} - {b}", f"{a} * {b}", f"min({a}, {b})", f"max({a}, {b})", f"abs({a})",
            f"where({a} > {b}, {a}, {b})", f"where({a} == {b}, {a}, {k})", f"{a} // {k}", f"{a} % {k}",
            f"{kind}(index({rng.randrange(rank)})) + {a}", f"{a} * {k}", f"clamp({a}, 1, 50)", f"{a} ** 2",
            f"{kind}(f32({a}) * 0.5)", f"{kind}(s32({a}))", f"{kind}(u8({a}))", f"sign({a})",
            f"{kind}(size({rng.randrange(rank)})) - {a}", f"{a} // {b}", f"{a} % {b}",
        ]  # fmt: skip
        if self.is_float:
            choices += [
                f"{a} / {b}", f"sqrt(abs({a}))", f"exp(clamp({a}, -5, 5))", f"log(abs({a}) + 1)",
                f"tanh({a})", f"sin(clamp({a}, -100, 100))", f"floor({a})", f"round({a} * 0.37)",
                f"fract({a})", f"{a} * {self.number()} + {b}", f"atan2({a}, {b})", f"mix({a}, {b}, 0.3)",
            ]  # fmt: skip
        else:
            choices += [f"{a} & {b}", f"{a} | {b}", f"{a} ^ {b}", f"{a} << {k % 5}", f"{a} >> {k}"]
        return rng.choice(choices)
