"""Running kernel text: one walk over the tree that text.py has checked, on symbols.

    TextFunction(...)         what a text defines; calling it returns what the text returns
    STATEMENTS, EXPRESSIONS   the whole language: what stands in neither table is refused

Whatever fails here was asked for by the text, and is reported at its line.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from dala.errors import KernelError, KernelSyntaxError
from dala.language.budget import current_trace
from dala.language.operators import DomainMismatch
from dala.language.parameter import REQUIRED
from dala.language.quote import describe, quote_node
from dala.language.values import Image, Scalar, Tensor, Vec
from dala.language.vocabulary import ATTRIBUTES, FUNCTIONS, METHODS, VOCABULARY

MAX_STEPS = 400_000  # evaluated tree nodes; a blur of radius 100 needs 9,000
MAX_TUPLE = 4096  # values in one tuple
INT_BITS = 63  # compile-time whole numbers stay below 2**63
TOO_LARGE = f"this number is too large; whole numbers stay below 2**{INT_BITS}"

Members: TypeAlias = Mapping[Any, frozenset[str]]
NUMBERS = (int, float, bool)
OPERATORS: dict[type[ast.AST], Callable[[Any, Any], object]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_OF_MANY = (FUNCTIONS["sum"], FUNCTIONS["average"])  # they take tuples
SIGNS: dict[type[ast.AST], Callable[[Any], object]] = {
    ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Invert: operator.invert,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a text kernel, as its signature declares it."""

    name: str
    annotation: str | None
    default: object


@dataclass(frozen=True, slots=True, eq=False)
class TextFunction:
    """A kernel given as text: called like a function, on symbols and compile-time values."""

    name: str
    doc: str
    arguments: tuple[Argument, ...]
    source: str
    _body: tuple[ast.stmt, ...] = field(repr=False)

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Interpret the body on symbols and return what the text returns."""
        if current_trace() is None:  # it is the trace that bounds the number of IR nodes
            raise KernelError(f"kernel {self.name!r} cannot be called; use compute.run_kernel")
        run = _Run(self._bind(args, kwargs))
        try:
            left = run.block(self._body)
        except Exception as error:  # whatever fails was asked for by the text: report its line
            kinds = (DomainMismatch, KernelSyntaxError)
            kind = next((k for k in kinds if isinstance(error, k)), KernelError)
            raise kind(quote_node(self.name, self.source, run.at, _in_words(error))) from error
        if left is None:
            raise KernelError(f"kernel {self.name!r} ends without a return; add one for every case")
        return run.result

    def quote_return(self, message: str) -> str:
        """A diagnostic about the result: it quotes the line that returns it, if there is one only."""
        returns = [n for s in self._body for n in ast.walk(s) if isinstance(n, ast.Return)]
        if len(returns) != 1:
            return f"kernel {self.name!r}: {message}"
        return quote_node(self.name, self.source, returns[0].value, message)

    def _bind(self, args: Sequence[object], kwargs: Mapping[str, object]) -> dict[str, object]:
        names = [a.name for a in self.arguments]
        unknown = set(kwargs) - set(names[len(args) :])
        values = {a.name: a.default for a in self.arguments}
        values.update(zip(names, args, strict=False), **kwargs)
        missing = any(value is REQUIRED for value in values.values())
        if unknown or missing or len(args) > len(names):
            raise KernelError(
                f"kernel {self.name!r} takes ({', '.join(names)}), got {len(args)} values by "
                f"position and {', '.join(kwargs) or 'none'} by name"
            )
        for name, value in values.items():
            if isinstance(value, int) and value.bit_length() > INT_BITS:
                raise KernelError(f"kernel {self.name!r}: {name} is too large a number")
        return values


def _in_words(error: Exception) -> str:
    if isinstance(error, OverflowError):
        return TOO_LARGE
    plain = {ZeroDivisionError: "division by zero", RecursionError: "this is nested too deeply"}
    return plain.get(type(error), str(error))


class _Run:
    """One interpretation of a kernel's body. The two tables below the class are the language."""

    def __init__(self, names: dict[str, object]) -> None:
        self.names = names
        self.steps = 0
        self.at: ast.AST | None = None  # the node at work, to be quoted when it fails
        self.result: object = None

    def block(self, body: Iterable[ast.stmt]) -> ast.stmt | None:
        """Run statements; what comes back is the break, continue or return that left the block."""
        for node in body:
            self._step(node)
            left = STATEMENTS[type(node)](self, node)
            if left is not None:
                return left
        return None

    def value(self, node: ast.expr) -> object:
        """What an expression gives: a symbol, a number, None, or a tuple of these."""
        self._step(node)
        return EXPRESSIONS[type(node)](self, node)

    def _step(self, node: ast.AST, cost: int = 1) -> None:
        self.at = node
        self.steps += cost
        if self.steps > MAX_STEPS:
            raise KernelError(f"the kernel takes too many steps ({MAX_STEPS}); shorten its loops")

    # statements

    def _assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self._bind(target, value)

    def _bind(self, target: ast.expr, value: object) -> None:
        self.at = target
        if isinstance(target, ast.Tuple):
            parts = _parts(value)
            if len(parts) != len(target.elts):
                raise KernelError(f"expected {len(target.elts)} values, got {len(parts)}")
            for name, part in zip(target.elts, parts, strict=True):
                self._bind(name, part)
        else:
            assert isinstance(target, ast.Name)
            self.names[target.id] = value

    def _augment(self, node: ast.AugAssign) -> None:
        left, right = self.value(node.target), self.value(node.value)
        self._bind(node.target, self._operate(node, left, right))

    def _for(self, node: ast.For) -> ast.stmt | None:
        for value in self._items(node.iter):
            self._bind(node.target, value)
            left = self.block(node.body)
            if isinstance(left, ast.Break):
                break
            if isinstance(left, ast.Return):
                return left
        return None

    def _items(self, node: ast.expr) -> Iterable[object]:
        match node:
            case ast.Call(func=ast.Name(id="range"), args=args):
                bounds: list[Any] = []
                for arg in args:
                    bound = self.value(arg)
                    if isinstance(bound, Scalar):
                        bound.__index__()  # raises, and says what to do
                    if type(bound) is not int:
                        raise KernelError(f"range takes whole numbers, got {describe(bound)}")
                    bounds.append(bound)
                return range(*bounds)
        value = self.value(node)
        self.at = node
        return _parts(value)

    def _if(self, node: ast.If) -> ast.stmt | None:
        while not self._truth(node.test):
            match node.orelse:
                case [ast.If() as following]:
                    node = following
                case other:
                    return self.block(other)
        return self.block(node.body)

    def _return(self, node: ast.Return) -> ast.stmt:
        assert node.value is not None
        self.result = self.value(node.value)
        if isinstance(self.result, tuple):
            self.at = node.value
            raise KernelError("a kernel returns a pixel or a number, not a tuple; use rgba(…)")
        return node

    # expressions

    def _name(self, node: ast.Name) -> object:
        if node.id in self.names:
            return self.names[node.id]
        if node.id in VOCABULARY:
            return VOCABULARY[node.id]
        raise KernelSyntaxError(f"{node.id!r} is read before it has a value")

    def _tuple(self, node: ast.Tuple | ast.List) -> object:
        return tuple([self.value(item) for item in node.elts])

    def _binary(self, node: ast.BinOp) -> object:
        chain = [node]
        while isinstance(chain[-1].left, ast.BinOp):
            chain.append(chain[-1].left)
        result = self.value(chain[-1].left)
        for part in reversed(chain):
            result = self._operate(part, result, self.value(part.right))
        return result

    def _operate(self, node: ast.BinOp | ast.AugAssign, left: object, right: object) -> object:
        self._step(node)
        op = type(node.op)
        if type(left) in NUMBERS and type(right) in NUMBERS:
            return _calculate(op, left, right)
        if op is ast.Add and isinstance(left, tuple) and isinstance(right, tuple):
            size = len(left) + len(right)
            self._step(node, size)
            if size > MAX_TUPLE:
                raise KernelError(f"a tuple holds at most {MAX_TUPLE} values, got {size}")
            return left + right
        return OPERATORS[op](_operand(left), _operand(right))

    def _unary(self, node: ast.UnaryOp) -> object:
        if isinstance(node.op, ast.Not):
            return not self._truth(node.operand)
        value = self.value(node.operand)
        self.at = node
        if isinstance(value, bool) and isinstance(node.op, ast.Invert):
            raise KernelError("use `not` with True and False; ~ is for bits and conditions")
        result = SIGNS[type(node.op)](_operand(value))
        return _fitting(result) if type(value) in NUMBERS else result

    def _logic(self, node: ast.BoolOp) -> object:
        for item in node.values[:-1]:
            value = self.value(item)
            self.at = item
            if _as_condition(value) is isinstance(node.op, ast.Or):
                return value
        return self.value(node.values[-1])

    def _compare(self, node: ast.Compare) -> object:
        left = self.value(node.left)
        result: object = True
        for op, item in zip(node.ops, node.comparators, strict=True):
            self.at = node
            if not _as_condition(result):  # in a chain; a symbol refuses to be a condition
                return result
            right = self.value(item)
            self.at = node
            if isinstance(op, ast.Is | ast.IsNot):
                result = (left is None) is isinstance(op, ast.Is)
            else:
                result = OPERATORS[type(op)](_operand(left), _operand(right))
            left = right
        return result

    def _choose(self, node: ast.IfExp) -> object:
        return self.value(node.body if self._truth(node.test) else node.orelse)

    def _truth(self, node: ast.expr) -> bool:
        value = self.value(node)
        self.at = node
        return _as_condition(value)

    def _call(self, node: ast.Call) -> object:
        function: object
        if isinstance(node.func, ast.Name):
            function = FUNCTIONS[node.func.id]
        else:
            function = self._member(cast("ast.Attribute", node.func), METHODS)
        args = [self.value(a) for a in node.args]
        self.at = node
        for arg in args:
            if isinstance(arg, tuple) and function in _OF_MANY:
                self._step(node, len(arg))
                for part in arg:
                    _operand(part)
            else:
                _operand(arg)
        result = cast("Callable[..., object]", function)(*args)
        return result if isinstance(result, Scalar | Image) else _fitting(result)

    def _attribute(self, node: ast.Attribute) -> object:
        return self._member(node, ATTRIBUTES)

    def _member(self, node: ast.Attribute, table: Members) -> object:
        owner = self.value(node.value)
        self.at = node
        # The exact type decides: getattr never meets a type or a name that the table does not list.
        if node.attr in table.get(type(owner), ()):
            return getattr(owner, node.attr)
        message = f"{describe(owner)} has no .{node.attr}"
        other = {Image: Tensor, Tensor: Image}.get(type(owner))
        if other is not None and node.attr in table[other]:
            raise DomainMismatch(message)
        raise KernelError(message)

    def _subscript(self, node: ast.Subscript) -> object:
        owner, index = self.value(node.value), self.value(node.slice)
        self.at = node
        if isinstance(owner, tuple | Vec):
            if type(index) is not int or not -len(owner) <= index < len(owner):
                got = index if type(index) in NUMBERS else describe(index)
                raise KernelError(f"expected an index in 0..{len(owner) - 1}, got {got}")
            return owner[index]
        for part in index if isinstance(index, tuple) else (index,):
            _operand(part)
        if isinstance(owner, Image | Tensor):
            return owner[cast("Any", index)]
        raise KernelError(f"{describe(owner)} has no components")


STATEMENTS: dict[type[ast.AST], Callable[[_Run, Any], ast.stmt | None]] = {
    ast.Assign: _Run._assign, ast.AugAssign: _Run._augment, ast.For: _Run._for, ast.If: _Run._if,
    ast.Return: _Run._return, ast.Pass: lambda _run, _node: None,
    ast.Break: lambda _run, node: node, ast.Continue: lambda _run, node: node,
}  # fmt: skip
EXPRESSIONS: dict[type[ast.AST], Callable[[_Run, Any], object]] = {
    ast.Constant: lambda _run, node: node.value, ast.Name: _Run._name, ast.Tuple: _Run._tuple,
    ast.List: _Run._tuple, ast.BinOp: _Run._binary, ast.UnaryOp: _Run._unary,
    ast.BoolOp: _Run._logic, ast.Compare: _Run._compare, ast.IfExp: _Run._choose,
    ast.Call: _Run._call, ast.Attribute: _Run._attribute, ast.Subscript: _Run._subscript,
}  # fmt: skip


def _calculate(op: type[ast.AST], left: Any, right: Any) -> object:
    # Only these two can grow far beyond their operands, so they are checked before, not after.
    grows = op is ast.LShift or (op is ast.Pow and abs(left) > 1)
    if grows and isinstance(left, int) and isinstance(right, int) and right > INT_BITS:
        raise OverflowError
    return _fitting(OPERATORS[op](left, right))


def _fitting(number: object) -> object:
    if type(number) not in NUMBERS:
        raise KernelError("the result is not a real number")
    if isinstance(number, int) and number.bit_length() > INT_BITS:
        raise OverflowError
    return number


def _operand(value: object) -> Any:
    """``value``, if operators and functions may see it: nothing but symbols and numbers."""
    if isinstance(value, Image):
        raise DomainMismatch("an image is not a number; read a pixel of it with src[0, 0]")
    if isinstance(value, Scalar) or type(value) in NUMBERS:
        return value
    raise KernelError(f"expected a number, got {describe(value)}")


def _as_condition(value: object) -> bool:
    return value is not None and bool(_operand(value))


def _parts(value: object) -> tuple[object, ...]:
    if isinstance(value, tuple | Vec):
        return tuple(value)
    raise KernelError(f"expected several values, got {describe(value)}")
