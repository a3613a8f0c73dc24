"""Python functions on integers, as LLVM text.

The rasteriser is written in plain Python: functions whose parameters, variables and results are
64-bit integers, with ``if``, ``while``, ``for … in range``, calls and arithmetic. Here they become machine
code: ``compile_functions`` follows the calls from the given functions and writes each as one LLVM
function. Memory is reached through words (words.py), which have a Python meaning and an LLVM
spelling, so the same source also runs as Python, very slowly, on the same memory.

Every variable is a slot on the stack; LLVM's own passes turn slots into registers. What is outside
the language is refused when it is compiled, with the line.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FunctionType

from dala.errors import KernelSyntaxError


@dataclass(frozen=True, slots=True)
class Word:
    """A function given in LLVM: ``text`` defines ``@name`` on i64 arguments. Called as Python, it does
    what it means. The text may depend on the machine, so it is written when it is needed."""

    name: str
    text: Callable[[], str]
    meaning: Callable[..., int]

    def __call__(self, *arguments: int) -> int:
        return self.meaning(*arguments)


_ARITHMETIC = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and", ast.BitOr: "or",
    ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "ashr",
}  # fmt: skip
_COMPARE = {
    ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
_PIECES = re.compile(r"\n\s*\n|\n(?=declare |define )")
_INTRINSICS = {"min": "llvm.smin.i64", "max": "llvm.smax.i64"}


def compile_functions(entries: Iterable[FunctionType]) -> str:
    """LLVM text of the entries (visible from outside) and of everything they call."""
    wanted: list[FunctionType | Word] = list(entries)
    exported = {f.__name__ for f in wanted if isinstance(f, FunctionType)}
    texts = ["declare i64 @llvm.smin.i64(i64, i64)", "declare i64 @llvm.smax.i64(i64, i64)"]
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


class _Function:
    """One function being written: blocks of lines, each variable a slot."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        source = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(source).body[0]
        assert isinstance(tree, ast.FunctionDef)
        self.tree = tree
        self.params = [a.arg for a in tree.args.args]
        self.calls: dict[FunctionType | Word, None] = {}
        self.slots: dict[str, None] = dict.fromkeys(self.params)
        self.lines: list[str] = []
        self.count = 0

    def text(self, linkage: str) -> str:
        body = self.tree.body
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]  # the docstring
        self.statements(body)
        self.lines.append("  ret i64 0")
        arguments = ", ".join(f"i64 %arg.{p}" for p in self.params)
        head = [f"define {linkage}i64 @{self.function.__name__}({arguments}) {{"]
        head += [f"  %{name} = alloca i64" for name in self.slots]
        head += [f"  store i64 %arg.{p}, ptr %{p}" for p in self.params]
        return "\n".join([*head, *self.lines, "}"])

    # -- names -----------------------------------------------------------------------------------

    def op(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

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
                self.assign(name, self.value(value))
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                computed = [self.value(v) for v in values]  # all before any is assigned
                for target, result in zip(names, computed, strict=True):
                    assert isinstance(target, ast.Name)
                    self.assign(target.id, result)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                read = ast.Name(id=name, ctx=ast.Load())
                changed = ast.BinOp(left=ast.copy_location(read, target), op=op, right=value)
                self.assign(name, self.value(changed))
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
                self.lines.append(f"  ret i64 {self.value(value) if value else 0}")
                self.lines.append(f"{self.labels('after')[0]}:")
            case ast.Expr(value=ast.Call() as call):
                self.value(call)
            case _:
                raise self.refuse(node)

    def assign(self, name: str, value: str) -> None:
        self.slots[name] = None
        self.lines.append(f"  store i64 {value}, ptr %{name}")

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
        self.assign(name, begin)
        again, inside, end = self.labels("for", "do", "done")
        self.begin(again)
        now = self.op(f"load i64, ptr %{name}")
        more = self.op(f"icmp slt i64 {now}, {limit}")
        self.lines += [f"  br i1 {more}, label %{inside}, label %{end}", f"{inside}:"]
        self.statements(body)
        self.assign(name, self.op(f"add i64 {self.op(f'load i64, ptr %{name}')}, 1"))
        self.lines += [f"  br label %{again}", f"{end}:"]

    # -- expressions -----------------------------------------------------------------------------

    def value(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=bool() | int() as value):
                return str(int(value))
            case ast.Name(id=name) if name in self.slots:
                return self.op(f"load i64, ptr %{name}")
            case ast.Name(id=name) if isinstance(self.function.__globals__.get(name), int):
                return str(int(self.function.__globals__[name]))
            case ast.Attribute(value=ast.Name(id=group), attr=name):  # a member of an enumeration
                return str(int(getattr(self.function.__globals__[group], name)))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                a, b = self.value(left), self.value(right)
                return self.op(f"{_ARITHMETIC[type(op)]} i64 {a}, {b}")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.op(f"sub i64 0, {self.value(operand)}")
            case ast.IfExp(test=test, body=yes, orelse=no):
                return self.choose(test, yes, no)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self.call(node, name, [self.value(a) for a in args])
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                return self.op(f"zext i1 {self.condition(node)} to i64")
        raise self.refuse(node)

    def choose(self, test: ast.expr, yes: ast.expr, no: ast.expr) -> str:
        """Both sides are computed, so neither may load from memory that may not be there."""
        a, b = self.value(yes), self.value(no)
        return self.op(f"select i1 {self.condition(test)}, i64 {a}, i64 {b}")

    def call(self, node: ast.expr, name: str, values: list[str]) -> str:
        listed = ", ".join(f"i64 {v}" for v in values)
        if name in _INTRINSICS:
            return self.op(f"call i64 @{_INTRINSICS[name]}({listed})")
        callee = self.function.__globals__.get(name)
        if not isinstance(callee, FunctionType | Word):
            raise self.refuse(node)
        self.calls[callee] = None
        return self.op(f"call i64 @{name}({listed})")

    def condition(self, node: ast.expr) -> str:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
                a, b = self.value(left), self.value(right)
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
