"""Python functions on numbers, as LLVM text.

The rasteriser is written in plain Python: functions whose parameters, variables and results are
64-bit integers or floats, with ``if``, ``while``, ``for … in range``, calls and arithmetic. A parameter or
result is what its annotation says; a variable is what is assigned to it first; where both kinds meet, the
integer becomes a float, as in Python, and ``int(x)`` cuts a float off. Here they become machine code:
``compile_functions`` follows the calls from the given functions and writes each as one LLVM function.
Memory is reached through words (words.py), which have a Python meaning and an LLVM spelling, so the same
source also runs as Python, very slowly, on the same memory.

Every variable is a slot on the stack; LLVM's own passes turn slots into registers. What is outside
the language is refused when it is compiled, with the line.
"""

from __future__ import annotations

import ast
import inspect
import re
import struct
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FunctionType

from dala.errors import KernelSyntaxError

_INT, _FLOAT = "i64", "double"


@dataclass(frozen=True, slots=True)
class Word:
    """A function given in LLVM: ``text`` defines ``@name`` on i64 arguments, but for those whose numbers
    are in ``floats``. Called as Python, it does what it means. The text may depend on the machine, so it
    is written when it is needed."""

    name: str
    text: Callable[[], str]
    meaning: Callable[..., int]
    floats: tuple[int, ...] = ()

    def __call__(self, *arguments: float) -> int:
        return self.meaning(*arguments)

    def kind(self, number: int) -> str:
        """Of an argument."""
        return _FLOAT if number in self.floats else _INT

    result = property(lambda self: _INT)


@dataclass(frozen=True, slots=True)
class FloatWord(Word):
    """The same, where the result is a float."""

    def __call__(self, *arguments: float) -> float:  # type: ignore[override]
        return self.meaning(*arguments)

    result = property(lambda self: _FLOAT)


class Value(str):
    """What stands for a value in LLVM's text: a register or a number, and its kind."""

    __slots__ = ("kind",)
    kind: str

    def __new__(cls, text: str, kind: str = _INT) -> Value:
        value = super().__new__(cls, text)
        value.kind = kind
        return value


_ARITHMETIC = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and", ast.BitOr: "or",
    ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "ashr",
}  # fmt: skip
_COMPARE = {
    ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
_FLOAT_ARITHMETIC = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_FLOAT_COMPARE = {
    ast.Lt: "olt", ast.LtE: "ole", ast.Gt: "ogt", ast.GtE: "oge", ast.Eq: "oeq", ast.NotEq: "une",
}  # fmt: skip
_PIECES = re.compile(r"\n\s*\n|\n(?=declare |define )")
_INTRINSICS = {"min": "llvm.smin.i64", "max": "llvm.smax.i64"}
_FIRST = {"min": "olt", "max": "ogt"}  # of two floats: the second one where it is less, or more
_DECLARATIONS = [
    "declare i64 @llvm.smin.i64(i64, i64)",
    "declare i64 @llvm.smax.i64(i64, i64)",
    "declare i64 @llvm.fptosi.sat.i64.f64(double)",
]


def compile_functions(entries: Iterable[FunctionType]) -> str:
    """LLVM text of the entries (visible from outside) and of everything they call."""
    wanted: list[FunctionType | Word] = list(entries)
    exported = {f.__name__ for f in wanted if isinstance(f, FunctionType)}
    texts = list(_DECLARATIONS)
    seen: dict[str, FunctionType | Word] = {}
    while wanted:
        function = wanted.pop()
        name = function.__name__ if isinstance(function, FunctionType) else function.name
        if seen.setdefault(name, function) is not function:
            raise KernelSyntaxError(f"two functions are called {name!r}")
        if isinstance(function, Word):
            texts += _PIECES.split(function.text().strip())  # what two words share is written once
            continue
        writer = _Function(function)
        texts.append(writer.text("" if name in exported else "internal "))
        wanted += [f for f in writer.calls if f not in seen.values()]
    return "\n\n".join(dict.fromkeys(texts))


def _kind(annotation: object) -> str:
    return _FLOAT if annotation in ("float", float) else _INT


def _literal(value: float) -> Value:
    if isinstance(value, float):
        return Value(f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}", _FLOAT)
    return Value(str(int(value)))


class _Function:
    """One function being written: blocks of lines, each variable a slot."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        source = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(source).body[0]
        assert isinstance(tree, ast.FunctionDef)
        self.tree = tree
        kinds = function.__annotations__
        self.params = {a.arg: _kind(kinds.get(a.arg)) for a in tree.args.args}
        self.result = _kind(kinds.get("return"))
        self.calls: dict[FunctionType | Word, None] = {}
        self.slots: dict[str, str] = dict(self.params)
        self.lines: list[str] = []
        self.count = 0

    def text(self, linkage: str) -> str:
        body = self.tree.body
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]  # the docstring
        self.statements(body)
        self.lines.append(f"  ret {self.result} {self.nothing}")
        arguments = ", ".join(f"{kind} %arg.{p}" for p, kind in self.params.items())
        head = [f"define {linkage}{self.result} @{self.function.__name__}({arguments}) {{"]
        head += [f"  %{name} = alloca {kind}" for name, kind in self.slots.items()]
        head += [f"  store {kind} %arg.{p}, ptr %{p}" for p, kind in self.params.items()]
        return "\n".join([*head, *self.lines, "}"])

    # -- names -----------------------------------------------------------------------------------

    @property
    def nothing(self) -> Value:
        return Value("0" if self.result == _INT else "0.0", self.result)

    def op(self, text: str, kind: str = _INT) -> Value:
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return Value(f"%t{self.count}", kind)

    def widen(self, value: Value, kind: str, node: ast.AST) -> Value:
        """An integer as a float, where that is wanted; the other way is written ``int(x)``."""
        if value.kind == kind:
            return value
        if kind == _INT:
            raise self.refuse(node)
        return self.op(f"sitofp i64 {value} to double", _FLOAT)

    def alike(self, *nodes: ast.expr) -> list[Value]:
        """Values of one kind."""
        values = [self.value(n) for n in nodes]
        kind = _FLOAT if any(v.kind == _FLOAT for v in values) else _INT
        return [self.widen(v, kind, n) for v, n in zip(values, nodes, strict=True)]

    def labels(self, *names: str) -> list[str]:
        self.count += 1
        return [f"{name}{self.count}" for name in names]

    def begin(self, label: str) -> None:
        """End the current block by going on to ``label``, and begin that."""
        self.lines += [f"  br label %{label}", f"{label}:"]

    def refuse(self, node: ast.AST) -> KernelSyntaxError:
        where = f"{self.function.__name__}, line {getattr(node, 'lineno', '?')}"
        return KernelSyntaxError(f"{where}: not part of this language: {ast.unparse(node)}")

    # -- statements ------------------------------------------------------------------------------

    def statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.assign(name, self.value(value), node)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                computed = [self.value(v) for v in values]  # all before any is assigned
                for target, result in zip(names, computed, strict=True):
                    assert isinstance(target, ast.Name)
                    self.assign(target.id, result, node)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                read = ast.Name(id=name, ctx=ast.Load())
                changed = ast.BinOp(left=ast.copy_location(read, target), op=op, right=value)
                self.assign(name, self.value(changed), node)
            case ast.If(test=test, body=body, orelse=orelse):
                self.branch(test, body, orelse)
            case ast.While(test=test, body=body, orelse=[]):
                self.loop(test, body)
            case ast.For(
                target=ast.Name(id=name),
                iter=ast.Call(func=ast.Name(id="range"), args=[*first, last]),
                body=body,
            ):
                self.count_up(name, first[0] if first else ast.Constant(0), last, body)
            case ast.Return(value=value):
                result = self.value(value) if value else self.nothing
                self.lines.append(f"  ret {self.result} {self.widen(result, self.result, node)}")
                self.lines.append(f"{self.labels('after')[0]}:")
            case ast.Expr(value=ast.Call() as call):
                self.value(call)
            case _:
                raise self.refuse(node)

    def assign(self, name: str, value: Value, node: ast.AST) -> None:
        kind = self.slots.setdefault(name, value.kind)
        self.lines.append(f"  store {kind} {self.widen(value, kind, node)}, ptr %{name}")

    def branch(self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> None:
        yes, no, end = self.labels("then", "else", "end")
        self.lines += [f"  br i1 {self.condition(test)}, label %{yes}, label %{no}", f"{yes}:"]
        self.statements(body)
        self.lines += [f"  br label %{end}", f"{no}:"]
        self.statements(orelse)
        self.begin(end)

    def loop(self, test: ast.expr, body: list[ast.stmt]) -> None:
        again, inside, end = self.labels("while", "do", "done")
        self.begin(again)
        self.lines += [f"  br i1 {self.condition(test)}, label %{inside}, label %{end}"]
        self.lines.append(f"{inside}:")
        self.statements(body)
        self.lines += [f"  br label %{again}", f"{end}:"]

    def count_up(self, name: str, first: ast.expr, last: ast.expr, body: list[ast.stmt]) -> None:
        begin, limit = self.value(first), self.value(last)
        self.assign(name, begin, first)
        again, inside, end = self.labels("for", "do", "done")
        self.begin(again)
        now = self.op(f"load i64, ptr %{name}")
        more = self.op(f"icmp slt i64 {now}, {limit}")
        self.lines += [f"  br i1 {more}, label %{inside}, label %{end}", f"{inside}:"]
        self.statements(body)
        self.assign(name, self.op(f"add i64 {self.op(f'load i64, ptr %{name}')}, 1"), first)
        self.lines += [f"  br label %{again}", f"{end}:"]

    # -- expressions -----------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=bool() | int() | float() as value):
                return _literal(value)
            case ast.Name(id=name) if name in self.slots:
                kind = self.slots[name]
                return self.op(f"load {kind}, ptr %{name}", kind)
            case ast.Name(id=name) if isinstance(self.function.__globals__.get(name), int | float):
                return _literal(self.function.__globals__[name])
            case ast.Attribute(value=ast.Name(id=group), attr=name):  # a member of an enumeration
                return Value(str(int(getattr(self.function.__globals__[group], name))))
            case ast.BinOp(left=left, op=op, right=right):
                return self.compute(node, op, left, right)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                a = self.value(operand)
                return self.op(
                    f"fneg double {a}" if a.kind == _FLOAT else f"sub i64 0, {a}", a.kind
                )
            case ast.IfExp(test=test, body=yes, orelse=no):
                return self.choose(test, yes, no)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self.call(node, name, args)
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                return self.op(f"zext i1 {self.condition(node)} to i64")
        raise self.refuse(node)

    def compute(self, node: ast.expr, op: ast.operator, left: ast.expr, right: ast.expr) -> Value:
        a, b = self.alike(left, right)
        names: dict[type[ast.operator], str] = (
            _FLOAT_ARITHMETIC if a.kind == _FLOAT else _ARITHMETIC
        )
        if type(op) not in names:
            raise self.refuse(node)
        return self.op(f"{names[type(op)]} {a.kind} {a}, {b}", a.kind)

    def choose(self, test: ast.expr, yes: ast.expr, no: ast.expr) -> Value:
        """Both sides are computed, so neither may load from memory that may not be there."""
        a, b = self.alike(yes, no)
        return self.op(f"select i1 {self.condition(test)}, {a.kind} {a}, {a.kind} {b}", a.kind)

    def call(self, node: ast.expr, name: str, args: list[ast.expr]) -> Value:
        if name in _INTRINSICS:
            return self.extreme(name, args)
        if name == "int":
            return self.op(f"call i64 @llvm.fptosi.sat.i64.f64(double {self.value(args[0])})")
        callee = self.function.__globals__.get(name)
        if isinstance(callee, Word):
            kinds, result = [callee.kind(i) for i in range(len(args))], str(callee.result)
        elif isinstance(callee, FunctionType):
            annotated = dict(callee.__annotations__)
            result = _kind(annotated.pop("return", None))
            kinds = [_kind(a) for a in annotated.values()]
        else:
            raise self.refuse(node)
        self.calls[callee] = None
        pairs = zip(args, kinds, strict=True)
        listed = ", ".join(f"{kind} {self.widen(self.value(a), kind, node)}" for a, kind in pairs)
        return self.op(f"call {result} @{name}({listed})", result)

    def extreme(self, name: str, args: list[ast.expr]) -> Value:
        a, b = self.alike(*args)
        if a.kind == _INT:
            return self.op(f"call i64 @{_INTRINSICS[name]}(i64 {a}, i64 {b})")
        second = self.op(f"fcmp {_FIRST[name]} double {b}, {a}")
        return self.op(f"select i1 {second}, double {b}, double {a}", _FLOAT)

    def condition(self, node: ast.expr) -> str:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
                a, b = self.alike(left, right)
                if a.kind == _FLOAT:
                    return self.op(f"fcmp {_FLOAT_COMPARE[type(op)]} double {a}, {b}")
                return self.op(f"icmp {_COMPARE[type(op)]} i64 {a}, {b}")
            case ast.Compare(left=a, ops=[first, second], comparators=[b, c]):  # a <= b < c
                both = [ast.Compare(a, [first], [b]), ast.Compare(b, [second], [c])]
                return self.condition(ast.BoolOp(op=ast.And(), values=list(both)))
            case ast.BoolOp(op=op, values=values):
                word = "and" if isinstance(op, ast.And) else "or"
                result = self.condition(values[0])
                for value in values[1:]:  # all are computed: conditions have no side effects
                    result = self.op(f"{word} i1 {result}, {self.condition(value)}")
                return result
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.op(f"xor i1 {self.condition(operand)}, true")
        return self.op(f"icmp ne i64 {self.value(node)}, 0")
