"""A FusedPass as a compute shader.

    linear   the same for every element: a run of four per invocation
    grid     one body: a block of pixels per invocation, neighbours read from memory
    tiled    bodies that buffer values for each other: a tile per workgroup, in workgroup memory

The text knows no sizes (those are uniforms), only whether rows begin on a group of four pixels; so
another size of image reuses it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field

from dala.backends.webgpu.arrays import ArrayVar
from dala.backends.webgpu.blocks import Block, Known, Source
from dala.backends.webgpu.body import BodyWriter
from dala.backends.webgpu.code import Code
from dala.backends.webgpu.functions import functions_for
from dala.backends.webgpu.tiles import (
    Tile,
    TiledBody,
    Tuning,
    block_of,
    choose_tile,
    is_linear,
)
from dala.backends.webgpu.uniforms import UniformBlock
from dala.backends.webgpu.workgroup import WorkgroupTile
from dala.errors import UnsupportedError
from dala.ir.dtypes import U8
from dala.ir.graph import Node, accesses, gathered_sources
from dala.plan.fuse import Body, FusedPass, Location, Store

MOST_GROUPS = 65_535  # workgroups along one axis


@dataclass(frozen=True, slots=True)
class Binding:
    """An array of the pass behind a binding number."""

    location: Location
    written: bool


@dataclass(frozen=True, slots=True)
class Shader:
    """Everything a pass needs to be dispatched."""

    text: str
    uniforms: UniformBlock
    bindings: tuple[Binding, ...]  # the uniform block, if there is one, comes after them
    groups: tuple[int, int, int]
    label: str


@dataclass
class _Bound:
    """The arrays a shader binds: each location once if it is written, else once per form."""

    work: FusedPass
    image: bool
    whole_rows: bool
    vars: dict[tuple[Location, bool], ArrayVar] = field(default_factory=dict)

    @functools.cached_property
    def gathered(self) -> set[int]:
        """What is read at computed positions, pixel by pixel."""
        return set().union(*(gathered_sources(b.roots) for b in self.work.bodies))

    def read(self, number: int, wide: bool) -> ArrayVar:
        location = self.work.reads[number].location
        written = any(w.location == location for w in self.work.writes)
        numbers = self._numbers(location) if written else [number]
        return self._var(location, number, wide=wide and self.gathered.isdisjoint(numbers))

    def write(self, number: int, wide: bool) -> ArrayVar:
        location = self.work.writes[number].location
        numbers = self._numbers(location)
        source = numbers[0] if numbers else -1
        var = self._var(location, source, wide=wide and self.gathered.isdisjoint(numbers))
        var.written = True
        var.atomic = var.levels and var.channels == 1 and not var.wide
        return var

    def _numbers(self, location: Location) -> list[int]:
        """Under which an array is read."""
        return [i for i, r in enumerate(self.work.reads) if r.location == location]

    def _var(self, location: Location, source: int, *, wide: bool) -> ArrayVar:
        key = (location, wide)
        if key not in self.vars:
            arrays = (*self.work.reads, *self.work.writes)
            type_ = next(a.type for a in arrays if a.location == location)
            self.vars[key] = ArrayVar(f"a{len(self.vars)}", type_, self.image, wide, source)
        return self.vars[key]


def emit_pass(work: FusedPass, tuning: Tuning, most_bytes: int) -> Shader:
    """The shader of a pass whose buffered values fit into so much workgroup memory."""
    if is_linear(work):
        return _Emitter(work, tuning, wide=True).linear()
    whole_rows = work.shape[1] % 4 == 0
    emitter = _Emitter(work, tuning, wide=whole_rows)
    if len(work.bodies) == 1:
        return emitter.grid()
    tile = choose_tile(work, tuning, most_bytes)
    assert tile is not None, "the planner has asked whether it fits"
    return emitter.tiled(tile)


class _Emitter:
    def __init__(self, work: FusedPass, tuning: Tuning, *, wide: bool) -> None:
        self.work = work
        self.tuning = tuning
        self.wide = wide
        self.image = work.domain == "image"
        self.uniforms = UniformBlock(work.shape, [r.type.shape for r in work.reads])
        self.bound = _Bound(work, self.image, wide)
        self.code = Code()

    # -- the three ways ------------------------------------------------------------------------

    def linear(self) -> Shader:
        code, threads = self.code, self.tuning.threads
        count = 1
        for length in self.work.shape[:2] if self.image else self.work.shape:
            count *= length
        total = self.uniforms.number("count", lambda: count)
        code.line(f"let x0 = i32(((group.y * groups.x + group.x) * {threads}u + lane) * 4u);")
        code.line(f"if (x0 >= {total}) {{ return; }}")
        block = (Block if self.image else TensorBlock)(code, self.uniforms, 4, 1)
        block.linear = True
        block.shape = self.work.shape
        self._write_stores(block, [""])
        blocks = -(-count // (4 * threads))
        across = min(blocks, MOST_GROUPS)
        head = (
            f"@compute @workgroup_size({threads})\n"
            "fn main(@builtin(workgroup_id) group: vec3<u32>, "
            "@builtin(num_workgroups) groups: vec3<u32>, "
            "@builtin(local_invocation_index) lane: u32) {\n"
        )
        return self._shader(head, (across, -(-blocks // across), 1))

    def grid(self) -> Shader:
        columns, rows = block_of(self.work, self.wide, self.tuning)
        neighbours = any(a.dx or a.dy for a in accesses(self.work.bodies[0].roots))
        across, down = self.tuning.stencil_workgroup if neighbours else self.tuning.workgroup
        code = self.code
        code.line(f"let x0 = i32(id.x) * {columns};")
        code.line(f"let y0 = i32(id.y + id.z * {MOST_GROUPS * down}u) * {rows};")
        self._sizes()
        code.line("if (x0 >= width || y0 >= height) { return; }")
        block = Block(code, self.uniforms, columns, rows)
        block.x_range = block.y_range = Known(from_zero=True, below_size=True)
        block.shape = self.work.shape
        self._write_stores(block, [f"y0 + {r} < height" if r else "" for r in range(rows)])
        head = (
            f"@compute @workgroup_size({across}, {down})\n"
            "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
        )
        return self._shader(head, self._groups(across * columns, down * rows))

    def tiled(self, tile: Tile) -> Shader:
        code = self.code
        buffered = [
            WorkgroupTile(i, tile, b, self.wide) if b.body.buffered else None
            for i, b in enumerate(tile.bodies)
        ]
        self._sizes()
        code.line(f"let tile_x0 = i32(group.x) * {tile.width};")
        code.line(f"let tile_y0 = i32(group.y + group.z * {MOST_GROUPS}u) * {tile.height};")
        for number, laid in enumerate(tile.bodies):
            self._tiled_body(tile, laid, buffered, number)
            if laid.body.buffered:
                code.line("workgroupBarrier();")
        head = "".join(h.declare() for h in buffered if h is not None) + (
            f"@compute @workgroup_size({self.tuning.threads})\n"
            "fn main(@builtin(workgroup_id) group: vec3<u32>, "
            "@builtin(local_invocation_index) lane: u32) {\n"
        )
        return self._shader(head, self._groups(tile.width, tile.height))

    # -- parts ---------------------------------------------------------------------------------

    def _sizes(self) -> None:
        shape = self.work.shape
        self.code.line(f"let width = {self.uniforms.number('width', lambda: shape[1])};")
        self.code.line(f"let height = {self.uniforms.number('height', lambda: shape[0])};")

    def _groups(self, width: int, height: int) -> tuple[int, int, int]:
        rows, columns = self.work.shape[:2]
        across, down = -(-columns // width), -(-rows // height)
        if across > MOST_GROUPS:
            raise UnsupportedError(
                f"{self.work.labels[-1]}: an image {columns} pixels wide is more than "
                f"{MOST_GROUPS * width} on this device"
            )
        return across, min(down, MOST_GROUPS), -(-down // MOST_GROUPS)

    def _tiled_body(
        self, tile: Tile, laid: TiledBody, buffered: Sequence[WorkgroupTile | None], number: int
    ) -> None:
        code, m = self.code, laid.margins
        across = -(-(tile.width + m.left + m.right) // laid.columns)
        down = -(-(tile.height + m.top + m.bottom) // laid.rows)
        items, threads = across * down, self.tuning.threads
        code.line(f"// {laid.body.label}")
        loop = f"for (var item = i32(lane); item < {items}i; item += {threads}i)"
        if items <= threads:
            loop = f"if (lane < {items}u)" if items < threads else ""
        with code.block(loop):
            if items <= threads:
                code.line("let item = i32(lane);")
            code.line(f"let tx = (item % {across}i) * {laid.columns}i - {m.left}i;")
            code.line(f"let ty = (item / {across}i) * {laid.rows}i - {m.top}i;")
            own_x = "tile_x0 + tx"
            code.line(f"let x0 = {f'clamp({own_x}, 0i, width - 1i)' if laid.padded else own_x};")
            code.line("let y0 = tile_y0 + ty;")
            block = Block(code, self.uniforms, laid.columns, laid.rows)
            block.shape = self.work.shape
            block.x_range = Known(from_zero=laid.padded or m.left == 0, below_size=laid.padded)
            block.y_range = Known(from_zero=m.top == 0)
            writer = self._writer(block, (*laid.body.roots, *laid.body.levels), buffered)
            tile_of_own = buffered[number]
            if tile_of_own is not None:
                values = laid.body.levels if laid.form == "packed" else laid.body.buffered
                tile_of_own.keep(writer, values)
            self._stores(writer, laid.body, [self._own(tile, laid, r) for r in range(laid.rows)])

    def _own(self, tile: Tile, laid: TiledBody, row: int) -> str:
        """Whether a row of a block is this tile's own to write."""
        tests = [f"{'tile_x0 + tx' if laid.padded else 'x0'} < width", f"y0 + {row} < height"]
        m = laid.margins
        if m.left or m.right:
            tests += ["tx >= 0", f"tx < {tile.width}"]
        if m.top or m.bottom:
            tests += [f"ty + {row} >= 0", f"ty + {row} < {tile.height}"]
        return " && ".join(tests)

    def _write_stores(self, block: Block, guards: Sequence[str]) -> None:
        (body,) = self.work.bodies
        self._stores(self._writer(block, body.roots, []), body, guards)

    def _writer(
        self, block: Block, roots: Sequence[Node], buffered: Sequence[WorkgroupTile | None]
    ) -> BodyWriter:
        arrays = (*self.work.reads, *self.work.writes)
        block.only_bytes = self.image and all(a.type.dtype == U8 for a in arrays)
        wide = self.wide and block.columns % 4 == 0
        used = {a.source for a in accesses(roots)} | gathered_sources(roots)
        sources: dict[int, Source] = {
            i: self.bound.read(i, wide) for i in range(len(self.work.reads)) if i in used
        }
        for number, tile in enumerate(buffered):
            if tile is not None:
                sources[len(self.work.reads) + number] = tile
        return BodyWriter(block, sources, roots)

    def _stores(self, writer: BodyWriter, body: Body, guards: Sequence[str]) -> None:
        block = writer.block
        wide = self.wide and block.columns % 4 == 0
        writes: list[tuple[ArrayVar, Store, int, int, str]] = []
        for store in body.stores:
            var = self.bound.write(store.write, wide)
            step = 4 if var.wide or not self.image else 1
            writes += [
                (var, store, dx, row, guard)
                for row, guard in enumerate(guards)
                for dx in range(0, block.columns, step)
            ]
        # all of a block is read before any of it is written: a pass may overwrite what it reads
        for var, store, dx, row, _ in writes:
            var.compute(writer, store.values, dx, row)
        for var, store, dx, row, guard in writes:
            tests = [guard] if guard else []
            if dx and not block.linear:
                tests.append(f"x0 + {dx} < width")
            var.store(writer, store.values, dx, row, " && ".join(tests))

    def _shader(self, head: str, groups: tuple[int, int, int]) -> Shader:
        bound = list(self.bound.vars.items())
        declared = "".join(var.declare(i) for i, (_, var) in enumerate(bound))
        declared += self.uniforms.declare(len(bound))
        body = head + str(self.code) + "\n}\n"
        bindings = tuple(Binding(location, var.written) for (location, _), var in bound)
        label = " → ".join(self.work.labels)
        text = f"// {label}\n{declared}{functions_for(body)}{body}"
        if "f16" in text:
            text = "enable f16;\n" + text
        return Shader(text, self.uniforms, bindings, groups, label)


class TensorBlock(Block):
    """Four elements in a row; positions along axes are found by division."""

    def coord(self, axis: int, dx: int, dy: int) -> str:
        shape, code = self.shape, self.code
        index = self.x(dx)
        inner = 1
        for length in shape[axis + 1 :]:
            inner *= length
        if axis + 1 < len(shape):
            stride = self.uniforms.number(f"stride {axis}", lambda: inner)
            index = code.let(f"{index} / {stride}")
        if axis > 0:
            size = self.uniforms.number(f"size {axis}", lambda: shape[axis])
            index = code.let(f"{index} % {size}")
        return index
