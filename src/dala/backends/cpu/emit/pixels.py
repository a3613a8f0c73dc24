"""How elements lie in memory, and how vectors of them are read, gathered and written.

A pixel of bytes is read as one word of 32 bits and split by shifts and masks; one of u16 as two such words,
red with green and blue with alpha (or one, if it has one channel or two); one of f32 is four lanes of a
block that are taken apart, or joined, by a shuffle.
"""

from __future__ import annotations

from collections.abc import Sequence

from dala.backends.cpu.llvm.text import Code, Type
from dala.ir.dtypes import F32, S32, S64, U8, U16, DType
from dala.ir.rewrite import INVERSE_255, LEVELS


class Format:
    """How an array's elements lie in memory, and how vectors of them are read and written."""

    def __init__(
        self, dtype: DType, channels: int, image: bool, lanes: int, *, levels: bool = False
    ) -> None:
        self.dtype, self.channels, self.image, self.lanes = dtype, channels, image, lanes
        self.levels = levels  # those of u16 are read as they are, not as 0..1
        self.pixel_bytes = dtype.bytes * channels
        self.bytes = self.pixel_bytes * lanes  # of one whole vector

    @property
    def word(self) -> Type:
        """What pixels are read as: levels come in words, the first channel lowest."""
        return Type(S32 if self.image and self.dtype in LEVELS else self.dtype, self.lanes)

    @property
    def is_word(self) -> bool:
        """Whether a pixel is one word of 32 bits."""
        return self.image and self.pixel_bytes == 4

    def load(self, code: Code, pointer: str) -> list[str]:
        """One vector per channel: f32 in 0..1 for images, the elements themselves for tensors."""
        return self.convert(code, self.load_pixels(code, pointer))

    def load_levels(self, code: Code, pointer: str) -> list[str]:
        """One vector per channel of bytes: their levels, in f32."""
        assert self.word.dtype != self.dtype
        return split_levels(code, self.load_pixels(code, pointer), self.lanes, self.channels)

    def convert(self, code: Code, pixels: list[str]) -> list[str]:
        """Pixels as they lie in memory → one vector per channel."""
        if self.word.dtype == self.dtype:
            return pixels
        if self.dtype == U16:
            levels = split_levels(code, pixels, self.lanes, self.channels, U16)
            if self.levels:
                return levels
            f32 = Type(F32, self.lanes)
            inverse = code.constant(f32, LEVELS[U16][1])
            return [code.op(f"fmul {f32} {level}, {inverse}") for level in levels]
        return split_pixels(code, pixels[0], self.lanes, self.channels)

    def load_pixels(self, code: Code, pointer: str) -> list[str]:
        """A vector of words (two for four channels of u16), or for images of f32 one per channel."""
        if self.image and self.dtype == U16 and self.channels == 4:
            double = Type(S32, self.lanes * 2)
            block = code.op(f"load {double}, ptr {pointer}, align 1")
            return [every(code, block, double, 2, half) for half in range(2)]
        if self.word.dtype == self.dtype and self.channels == 4:
            whole = Type(self.dtype, self.lanes * 4)
            block = code.op(f"load {whole}, ptr {pointer}, align 1")
            return [every(code, block, whole, 4, c) for c in range(4)]
        if self.word.dtype == self.dtype or self.pixel_bytes == 4:
            return [code.op(f"load {self.word}, ptr {pointer}, align 1")]
        small = f"<{self.lanes} x i{8 * self.pixel_bytes}>"
        narrow = code.op(f"load {small}, ptr {pointer}, align 1")
        return [code.op(f"zext {small} {narrow} to {self.word}")]

    def load_every_second(self, code: Code, pointer: str, odd: int) -> list[str]:
        """One vector per channel, of every second pixel."""
        if self.dtype == U8 and self.channels == 4:
            pixels = load_every_second(code, pointer, Type(S32, self.lanes), odd)
            return split_pixels(code, pixels, self.lanes)
        double = Format(self.dtype, self.channels, self.image, self.lanes * 2, levels=self.levels)
        wide = Type(F32, self.lanes * 2)
        return [every(code, part, wide, 2, odd) for part in double.load(code, pointer)]

    def load_repeated(self, code: Code, pointer: str, times: int) -> list[str]:
        """One vector per channel, with every pixel several times."""
        part = Format(
            self.dtype, self.channels, self.image, self.lanes // times, levels=self.levels
        )
        narrow = Type(F32, self.lanes // times)
        return [repeated(code, value, narrow, times) for value in part.load(code, pointer)]

    def store(self, code: Code, pointer: str, values: Sequence[str]) -> None:
        """Write one vector per channel; RGBA bytes come as packed words, grey ones as levels in f32."""
        f32, i32 = Type(F32, self.lanes), Type(S32, self.lanes)
        if not self.image or (self.dtype == F32 and self.channels == 1):
            code.line(f"store {Type(self.dtype, self.lanes)} {values[0]}, ptr {pointer}, align 1")
        elif self.dtype == F32:
            block = _interleave(code, values, self.lanes)
            code.line(f"store {Type(F32, self.lanes * 4)} {block}, ptr {pointer}, align 1")
        elif self.dtype == U16:
            self._store_halves(code, pointer, values)
        elif self.channels < 4:
            small = Type(U8, self.lanes)
            parts = []
            for value in values:
                whole = code.op(f"fptosi {f32} {value} to {i32}")
                parts.append(code.op(f"trunc {i32} {whole} to {small}"))
            levels = (
                parts[0] if self.channels == 1 else interleave_pair(code, parts[0], parts[1], small)
            )
            whole_vector = Type(U8, self.lanes * self.channels)
            code.line(f"store {whole_vector} {levels}, ptr {pointer}, align 1")
        else:
            pixels = values[0]
            for part in values[1:]:
                pixels = code.op(f"or {i32} {pixels}, {part}")
            code.line(f"store {i32} {pixels}, ptr {pointer}, align 1")

    def _store_halves(self, code: Code, pointer: str, values: Sequence[str]) -> None:
        """Levels of 16 bits, from f32: two channels are one word."""
        f32, i32 = Type(F32, self.lanes), Type(S32, self.lanes)
        whole = [code.op(f"fptosi {f32} {value} to {i32}") for value in values]
        if self.channels == 1:
            small = Type(U16, self.lanes)
            narrow = code.op(f"trunc {i32} {whole[0]} to {small}")
            code.line(f"store {small} {narrow}, ptr {pointer}, align 1")
            return
        words = []
        for low, high in zip(whole[::2], whole[1::2], strict=True):
            upper = code.op(f"shl {i32} {high}, {code.constant(i32, 16)}")
            words.append(code.op(f"or {i32} {low}, {upper}"))
        block = words[0] if len(words) == 1 else interleave_pair(code, words[0], words[1], i32)
        code.line(f"store {Type(S32, self.lanes * len(words))} {block}, ptr {pointer}, align 1")

    def gather(
        self, code: Code, base: str, index: str, number: Type, *, briefly: bool = False
    ) -> list[str]:
        """Pixels as ``load_pixels`` has them, at computed indices of type ``number``."""
        if self.word.dtype == self.dtype and self.channels == 4:
            gather = self._gather_channels if briefly else self._gather_whole
            return gather(code, base, index, number)
        if self.image and self.pixel_bytes == 8:  # u16 of four channels: two words
            i64, double = Type(S64, self.lanes), Type(S32, self.lanes * 2)
            found = gather_elements(code, base, "i64", i64, number, index)
            block = code.op(f"bitcast {i64} {found} to {double}")
            return [every(code, block, double, 2, half) for half in range(2)]
        stride = f"i{8 * self.pixel_bytes}"
        words = gather_elements(code, base, stride, self.word, number, index)
        if self.word.dtype != self.dtype and self.pixel_bytes < 4:  # its neighbours came along
            mask = code.constant(self.word, (1 << 8 * self.pixel_bytes) - 1)
            words = code.op(f"and {self.word} {words}, {mask}")
        return [words]

    def gather_pairs(
        self, code: Code, base: str, index: str, number: Type, *, far: bool
    ) -> tuple[str, str]:
        """Pixels of one word at computed indices, and the next ones; they may lie ``far`` apart."""
        whole = Type(self.word.dtype, self.lanes * 2)
        if far:
            block = _load_each(code, base, Type(self.word.dtype, 2), "i32", index, number)
        else:  # as fast, and a third of the text
            i64 = Type(S64, self.lanes)
            found = gather_elements(code, base, "i32", i64, number, index)
            block = code.op(f"bitcast {i64} {found} to {whole}")
        return every(code, block, whole, 2, 0), every(code, block, whole, 2, 1)

    def _gather_whole(self, code: Code, base: str, index: str, number: Type) -> list[str]:
        """Pixels of f32 are loaded whole, then transposed: a fourth of the reads."""
        pixel = Type(self.dtype, 4)
        block = _load_each(code, base, pixel, str(pixel), index, number)
        whole = Type(self.dtype, self.lanes * 4)
        return [every(code, block, whole, 4, c) for c in range(4)]

    def _gather_channels(self, code: Code, base: str, index: str, number: Type) -> list[str]:
        """A gather per channel: slower, but a tenth of the text."""
        first = code.op(f"shl {number} {index}, {code.constant(number, 2)}")
        indices = [code.op(f"add {number} {first}, {code.constant(number, c)}") for c in range(4)]
        element = Type(self.dtype, self.lanes)
        return [gather_elements(code, base, element.element, element, number, p) for p in indices]


def split_pixels(code: Code, pixels: str, lanes: int, count: int = 4) -> list[str]:
    """Packed words of ``count`` bytes → as many f32 vectors in 0..1."""
    f32 = Type(F32, lanes)
    inverse = code.constant(f32, INVERSE_255)
    levels = split_levels(code, [pixels], lanes, count)
    return [code.op(f"fmul {f32} {level}, {inverse}") for level in levels]


def split_levels(
    code: Code, words: Sequence[str], lanes: int, count: int, dtype: DType = U8
) -> list[str]:
    """Words of four bytes, or of two levels of 16 bits → ``count`` f32 vectors of levels."""
    f32, i32 = Type(F32, lanes), Type(S32, lanes)
    bits, each = 8 * dtype.bytes, 4 // dtype.bytes
    channels = []
    for channel in range(count):
        word, place = divmod(channel, each)
        part = words[word]
        if place:
            part = code.op(f"lshr {i32} {part}, {code.constant(i32, bits * place)}")
        if place < each - 1 and channel < count - 1:  # there is more above it
            part = code.op(f"and {i32} {part}, {code.constant(i32, (1 << bits) - 1)}")
        channels.append(code.op(f"sitofp {i32} {part} to {f32}"))
    return channels


def pack_level(code: Code, level: str, channel: int, lanes: int) -> str:
    """A level in f32, moved to where its channel stands in a packed pixel."""
    i32 = Type(S32, lanes)
    whole = code.op(f"fptosi {Type(F32, lanes)} {level} to {i32}")
    if not channel:
        return whole
    return code.op(f"shl {i32} {whole}, {code.constant(i32, 8 * channel)}")


def load_every_second(code: Code, pointer: str, vector: Type, odd: int) -> str:
    """A vector of every second element in memory."""
    double = Type(vector.dtype, vector.lanes * 2)
    return every(code, code.op(f"load {double}, ptr {pointer}, align 1"), double, 2, odd)


def load_between(code: Code, pointer: str, vector: Type, behind: int) -> str:
    """A vector in memory that lies ``behind`` elements behind another one, cut out of that and the next."""
    size = vector.dtype.bytes
    here, after = (
        code.op(f"load {vector}, ptr {code.moved(pointer, size * move)}, align {size}")
        for move in (-behind, vector.lanes - behind)
    )
    return code.shuffle(vector, here, range(behind, behind + vector.lanes), after)


def load_repeated(code: Code, pointer: str, vector: Type, times: int) -> str:
    """A vector with every element in memory several times."""
    part = Type(vector.dtype, vector.lanes // times)
    return repeated(code, code.op(f"load {part}, ptr {pointer}, align 1"), part, times)


def every(code: Code, block: str, whole: Type, step: int, first: int) -> str:
    """Each ``step``-th element of a vector, from ``first`` on."""
    if step == 1:
        return block
    return code.shuffle(whole, block, range(first, whole.lanes, step))


def repeated(code: Code, block: str, whole: Type, times: int) -> str:
    """Each element of a vector several times."""
    return code.shuffle(whole, block, [i // times for i in range(whole.lanes * times)])


def repeat_from(code: Code, block: str, t: Type, times: int, first: int) -> str:
    """A vector of some elements of another one, each several times, from the ``first`` on."""
    return code.shuffle(t, block, [first + i // times for i in range(t.lanes)])


def reverse(code: Code, block: str, whole: Type) -> str:
    return code.shuffle(whole, block, range(whole.lanes - 1, -1, -1))


def join(code: Code, parts: Sequence[str], t: Type) -> str:
    """Vectors of one type, one after the other, as one."""
    while len(parts) > 1:
        order = range(t.lanes * 2)
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts, t = [code.shuffle(t, a, order, b) for a, b in pairs], Type(t.dtype, t.lanes * 2)
    return parts[0]


def interleave_pair(code: Code, first: str, second: str, t: Type) -> str:
    """Elements of two vectors in turn."""
    return code.shuffle(t, first, [i + k * t.lanes for i in range(t.lanes) for k in (0, 1)], second)


def _interleave(code: Code, values: Sequence[str], lanes: int) -> str:
    t, double = Type(F32, lanes), Type(F32, lanes * 2)
    first, second = (code.shuffle(t, values[k], range(lanes * 2), values[k + 1]) for k in (0, 2))
    order = [c * lanes + i for i in range(lanes) for c in range(4)]
    return code.shuffle(double, first, order, second)


def _load_each(code: Code, base: str, part: Type, stride: str, index: str, number: Type) -> str:
    """Short vectors from computed indices, one after the other: a load per lane."""
    parts = []
    for lane in range(number.lanes):
        element = code.op(f"extractelement {number} {index}, i64 {lane}")
        address = code.op(f"getelementptr {stride}, ptr {base}, {number.element} {element}")
        parts.append(code.op(f"load {part}, ptr {address}, align 1"))
    return join(code, parts, part)


def gather_elements(
    code: Code, base: str, stride: str, element: Type, number: Type, index: str
) -> str:
    """A vector of elements at computed indices, counted in strides from the base."""
    lanes = element.lanes
    pointers = code.op(f"getelementptr {stride}, ptr {base}, {number} {index}")
    name = f"llvm.masked.gather.{element.suffix}.v{lanes}p0"
    mask = f"<{lanes} x i1>"
    declaration = f"declare {element} @{name}(<{lanes} x ptr>, i32, {mask}, {element})"
    code.names.declarations[name] = declaration
    every = "<" + ", ".join(["i1 true"] * lanes) + ">"
    return code.op(
        f"call {element} @{name}(<{lanes} x ptr> {pointers}, i32 1, {mask} {every}, "
        f"{element} poison)"
    )
