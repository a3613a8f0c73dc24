"""Kernel text: parsed with ``ast`` and interpreted over symbols, never executed.

    parse_kernel(text)   text → tree → every check that needs no values → TextFunction
    TextFunction(...)    one walk over the tree, on symbols; returns what the text returns
    quote_line(...)      the form of every diagnostic: what is wrong, and the user's own line

The interpreter's two tables are the whole language. Text may come from strangers, so every cost is
bounded: length, nesting, steps, the size of numbers and tuples, and (by the trace) IR nodes.
"""

from __future__ import annotations

import ast
import operator
import textwrap
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn, TypeAlias, cast

from dala.errors import KernelError, KernelSyntaxError, suggest
from dala.language.parameter import REQUIRED
from dala.language.values import DomainMismatch, Image, Scalar, Tensor, Vec, current_trace
from dala.language.vocabulary import ATTRIBUTES, FUNCTIONS, METHODS, VOCABULARY

MAX_TEXT = 64 * 1024  # characters
MAX_NAME = 64  # characters; also keeps the search for similar names cheap
MAX_DEPTH = 100  # nested constructs; each takes two Python frames, of the usual thousand
MAX_STEPS = 400_000  # evaluated tree nodes; a blur of radius 100 needs 9,000
MAX_TUPLE = 4096  # values in one tuple
INT_BITS = 63  # compile-time whole numbers stay below 2**63
SHOWN = 100  # characters of a source line that a diagnostic quotes

_Members: TypeAlias = Mapping[Any, frozenset[str]]
_NUMBERS = (int, float, bool)
_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], object]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_SIGNS: dict[type[ast.AST], Callable[[Any], object]] = {
    ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Invert: operator.invert,
}  # fmt: skip

# What people try, by the name of its tree node (newer Pythons have more of them), and what to use
# instead. A node that is missing here has the name of its keyword: Lambda, Raise, Await, …
_INSTEAD = {
    "While": "while; use for … in range(…)",
    "FunctionDef": "a nested def; write its steps in line",
    "AsyncFunctionDef": "async; use a plain def", "AsyncFor": "async", "AsyncWith": "async",
    "ClassDef": "class; kernel text is one def",
    "Import": "import; its functions are there without it",
    "ImportFrom": "import; its functions are there without it",
    "TryStar": "try", "Delete": "del", "YieldFrom": "yield", "Match": "match; use if and elif",
    "NamedExpr": "':='; assign on a line of its own",
    "AnnAssign": "an annotated assignment; drop the annotation",
    "JoinedStr": "an f-string", "TemplateStr": "a t-string", "TypeAlias": "a type alias",
    "ListComp": "a comprehension; use for", "SetComp": "a comprehension; use for",
    "DictComp": "a comprehension; use for", "GeneratorExp": "a comprehension; use for",
    "Dict": "a dict; use a tuple", "Set": "a set; use a tuple",
    "Starred": "'*' before a value; write the values out",
    "Slice": "a slice; index with one number", "MatMult": "'@'; use dot(a, b)",
    "In": "'in'; compare with ==", "NotIn": "'not in'; compare with !=",
    "Expr": "a value on a line of its own; assign it or return it",
}  # fmt: skip
_KINDS = {
    int: "a whole number", float: "a number", bool: "True or False", complex: "a complex number",
    tuple: "a tuple", str: "a string", bytes: "a string", type(None): "None", type(...): "'...'",
    Scalar: "a number", Vec: "a pixel", Image: "an image", Tensor: "a tensor",
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
            raise kind(_quote(self.name, self.source, run.at, _in_words(error))) from error
        if left is None:
            raise KernelError(f"kernel {self.name!r} ends without a return; add one for every case")
        return run.result

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


def quote_line(kernel: str, line_number: int, line: str, column: int | None, message: str) -> str:
    """A diagnostic: kernel and line number, what is wrong, the line itself, a caret under it.

    An empty ``kernel`` means that its name is unknown. A message that already quotes a line (that
    of an inner kernel) stays as it is.
    """
    if message.startswith(("kernel '", "kernel text")):
        return message
    name = f"kernel {kernel!r}" if kernel else "kernel text"
    shown = "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in line.rstrip())
    start = len(shown) - len(shown.lstrip())
    if column is not None and column - start >= SHOWN:  # a long line: quote the part that matters
        start = column - SHOWN // 2
    lines = [f"{name}, line {line_number}: {message}"]
    if shown[start:]:
        lines.append("    " + shown[start : start + SHOWN])
        if column is not None and column >= start:
            gap = "".join("\t" if c == "\t" else " " for c in shown[start:column])
            lines.append(f"    {gap}^")
    return "\n".join(lines)


def _quote(kernel: str, source: str, node: ast.AST | None, message: str) -> str:
    number, column = getattr(node, "lineno", 1), getattr(node, "col_offset", None)
    line = source.split("\n")[number - 1]
    if column is not None:  # the tree counts bytes
        column = len(line.encode()[:column].decode(errors="ignore"))
    return quote_line(kernel, number, line, column, message)


def _in_words(error: Exception) -> str:
    if isinstance(error, OverflowError):
        return f"this number is too large; whole numbers stay below 2**{INT_BITS}"
    plain = {ZeroDivisionError: "division by zero", RecursionError: "this is nested too deeply"}
    return plain.get(type(error), str(error))


def _describe(value: object) -> str:
    return _KINDS.get(type(value), type(value).__name__)


# --- reading: every check that needs no values ---------------------------------------------------


def parse_kernel(text: str) -> TextFunction:
    """The kernel that ``text`` defines, or a KernelSyntaxError that quotes the offending line.

    >>> parse_kernel("def grey(src): return luma(src[0, 0])").arguments
    (Argument(name='src', annotation=None, default=required),)
    """
    if len(text) > MAX_TEXT:
        raise KernelSyntaxError(f"kernel text has {len(text)} characters; at most {MAX_TEXT} fit")
    source = textwrap.dedent(text.replace("\r\n", "\n").replace("\r", "\n"))
    tree = _read_tree(source)
    name = ""
    try:
        _check_depth(tree)
        function = next((s for s in tree.body if isinstance(s, ast.FunctionDef)), None)
        if function is not None:
            _check_name(function, function.name)
            name = function.name
        function = _alone(tree, function)
        arguments = _read_arguments(function)
        doc = ast.get_docstring(function)
        body = function.body[doc is not None :]
        _check_body(function, body, {a.name for a in arguments})
    except _Refusal as refusal:
        message = _quote(name, source, refusal.node, refusal.message)
        raise KernelSyntaxError(message) from None
    return TextFunction(name, doc or "", arguments, source, tuple(body))


class _Refusal(Exception):
    def __init__(self, node: ast.AST, message: str) -> None:
        self.node, self.message = node, message


def _refuse_construct(node: ast.AST, at: ast.AST | None = None) -> NoReturn:
    kind = type(node).__name__
    word, semicolon, advice = _INSTEAD.get(kind, kind.lower()).partition(";")
    message = f"{word} is not part of the kernel language{semicolon}{advice}"
    raise _Refusal(at or node, message)


_quiet = threading.Lock()  # catch_warnings changes the whole process


def _read_tree(source: str) -> ast.Module:
    try:
        with _quiet, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stranger's odd escapes are no news for our user
            return ast.parse(source)
    except SyntaxError as error:
        lines, number = source.split("\n"), error.lineno or 1
        line = lines[number - 1] if number <= len(lines) else ""
        column = (error.offset or 1) - 1
        raise KernelSyntaxError(quote_line("", number, line, column, error.msg)) from None
    except (RecursionError, MemoryError):  # how the parser says that its stack is full
        raise KernelSyntaxError("kernel text is nested too deeply; split it into steps") from None
    except ValueError:
        raise KernelSyntaxError("kernel text holds a null byte or half a character") from None


def _check_depth(tree: ast.AST) -> None:
    stack: list[tuple[ast.AST, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise _Refusal(node, "this is nested too deeply; split it into steps")
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr_context | ast.operator | ast.unaryop):
                stack.append((child, depth if _continues(node, child) else depth + 1))


def _continues(node: ast.AST, child: ast.AST) -> bool:
    """Whether both are one long sum or elif chain, which the interpreter walks in a loop."""
    match node:
        case ast.BinOp(left=following) | ast.If(orelse=[following]):
            return child is following and isinstance(child, type(node))
    return False


def _alone(tree: ast.Module, function: ast.FunctionDef | None) -> ast.FunctionDef:
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) or type(statement) in _Run.statements:
            if statement is not function:
                raise _Refusal(statement, "kernel text is one def and nothing else")
        else:
            _refuse_construct(statement)
    if function is None:
        raise _Refusal(tree, "there is no kernel in this text; write def name(src): …")
    return function


def _read_arguments(function: ast.FunctionDef) -> tuple[Argument, ...]:
    given = function.args
    for decorator in function.decorator_list:
        raise _Refusal(decorator, "a decorator is not part of the kernel language")
    if function.returns is not None or getattr(function, "type_params", None):
        at = function.returns or function
        raise _Refusal(at, "a kernel declares no return type and no type parameters; drop them")
    for extra in (given.vararg, given.kwarg, *given.kwonlyargs, *given.posonlyargs):
        if extra is not None:
            raise _Refusal(extra, "a kernel takes plain arguments; no '*', '**' or '/'")
    defaults = [None] * (len(given.args) - len(given.defaults)) + given.defaults
    arguments: dict[str, Argument] = {}
    for arg, default in zip(given.args, defaults, strict=True):
        _check_assigned(arg, arg.arg)
        if arg.arg in arguments:
            raise _Refusal(arg, f"there are two arguments {arg.arg!r}")
        annotation = None if arg.annotation is None else _read_annotation(arg.annotation)
        value = REQUIRED if default is None else _read_default(default)
        arguments[arg.arg] = Argument(arg.arg, annotation, value)
    return tuple(arguments.values())


def _read_annotation(node: ast.expr) -> str:
    inner = node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        match node.right:
            case ast.Constant(value=None):
                inner = node.left
    match inner:
        case ast.Name(id="float" | "int" | "bool" as word):
            return word
        case ast.Name(id="Image" | "Tensor" as word) if inner is node:
            return word
        case ast.Subscript(ast.Name("Static"), ast.Name("float" | "int" | "bool" as word)):
            return f"Static[{word}]"
    expected = "float, int, bool, Image, Tensor, Static[float], Static[int] or Static[bool]"
    raise _Refusal(node, f"this is no annotation of the kernel language; use {expected}")


def _read_default(node: ast.expr) -> object:
    match node:
        case ast.Constant(value=value):
            _check_constant(node, value)
            return value
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=ast.Constant(value=value)):
            _check_constant(node, value)
            if type(value) in (int, float):
                return _SIGNS[type(sign)](value)
    raise _Refusal(node, "a default is a number, True, False or None")


def _check_body(function: ast.FunctionDef, body: Sequence[ast.stmt], arguments: set[str]) -> None:
    nodes = list(ast.walk(function))
    names = [n for n in nodes if isinstance(n, ast.Name)]
    known = arguments | {n.id for n in names if isinstance(n.ctx, ast.Store)}
    stack: list[tuple[ast.AST, bool]] = [(s, False) for s in reversed(body)]
    while stack:  # in the order of the text, so that the first mistake is the one reported
        node, in_loop = stack.pop()
        if type(node) not in _Run.statements and type(node) not in _Run.expressions:
            _refuse_construct(node)
        if isinstance(node, ast.Break | ast.Continue) and not in_loop:
            raise _Refusal(node, "break and continue only stand inside a for")
        in_loop = in_loop or isinstance(node, ast.For)
        stack.extend((child, in_loop) for child in reversed(_check_node(node, known)))
    if not any(isinstance(n, ast.Return) for n in nodes):
        raise _Refusal(function, "the kernel returns nothing; add a return")


def _check_node(node: ast.AST, known: set[str]) -> list[ast.AST]:
    """Refuse what is wrong with the node itself; give the parts to look at next."""
    match node:
        case ast.Constant(value=value):
            _check_constant(node, value)
        case ast.Name(id=name, ctx=ast.Load()):
            _check_read(node, name, known)
        case ast.Name(id=name):
            _check_assigned(node, name)
        case ast.Tuple(elts=items, ctx=ast.Store()) if all(isinstance(i, ast.Name) for i in items):
            pass
        case ast.Tuple(ctx=ast.Store()) | ast.List(ctx=ast.Store()):
            raise _Refusal(node, "only names and tuples of names can be assigned")
        case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
            raise _Refusal(node, "only names can be assigned; parts of a value never change")
        case ast.Tuple(elts=items) | ast.List(elts=items) if len(items) > MAX_TUPLE:
            raise _Refusal(node, f"a tuple holds at most {MAX_TUPLE} values, got {len(items)}")
        case ast.For(orelse=[first, *_]):
            raise _Refusal(first, "else after for is not part of the kernel language")
        case ast.For(target=target, iter=ast.Call(func=ast.Name(id="range")) as call):
            if call.keywords or not 1 <= len(call.args) <= 3:
                raise _Refusal(call, "range takes one to three whole numbers")
            return [target, *call.args, *node.body]
        case ast.Return(value=None):
            raise _Refusal(node, "return needs a value: a pixel or a number")
        case ast.Attribute(attr=name):
            _check_member(node, name, ATTRIBUTES)
        case ast.Call():
            return _check_call(node)
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) not in _OPERATORS:
            _refuse_construct(op, at=node)
        case ast.Compare():
            _check_comparison(node)
    return [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr | ast.stmt)]


def _check_comparison(node: ast.Compare) -> None:
    for op, right in zip(node.ops, node.comparators, strict=True):
        if isinstance(op, ast.Is | ast.IsNot):
            if not isinstance(right, ast.Constant) or right.value is not None:
                raise _Refusal(node, "'is' only asks for None; compare numbers with ==")
        elif type(op) not in _OPERATORS:
            _refuse_construct(op, at=node)


def _check_call(node: ast.Call) -> list[ast.AST]:
    if node.keywords:
        raise _Refusal(node, "arguments are given by position here, not by name")
    match node.func:
        case ast.Attribute(value=owner, attr=name):
            _check_member(node.func, name, METHODS)
            return [owner, *node.args]
        case ast.Name(id=name) if name in FUNCTIONS:
            return [*node.args]
        case ast.Name(id="range"):
            raise _Refusal(node, "range only stands in a loop: for i in range(…)")
        case ast.Name(id=name):
            _check_name(node, name)
            hint = suggest(name, FUNCTIONS)
            raise _Refusal(node, f"{name!r} is not a function of the kernel language{hint}")
    if type(node.func) not in _Run.expressions:
        _refuse_construct(node.func)
    raise _Refusal(node, "only the functions and methods of the kernel language can be called")


def _check_member(node: ast.Attribute, name: str, table: _Members) -> None:
    _check_name(node, name)
    members = {n for names in table.values() for n in names}
    if name in members:
        return
    other = ATTRIBUTES if table is METHODS else METHODS
    if any(name in names for names in other.values()):
        raise _Refusal(node, f".{name} is {'a' if other is METHODS else 'no'} method")
    hint = suggest(name, members)
    raise _Refusal(node, f".{name} is not part of the kernel language{hint}")


def _check_read(node: ast.AST, name: str, known: set[str]) -> None:
    _check_name(node, name)
    if name in FUNCTIONS:
        raise _Refusal(node, f"{name!r} is a function; call it: {name}(…)")
    if name not in known and name not in VOCABULARY:
        hint = suggest(name, [*VOCABULARY, *sorted(known)[:200]])  # the search is slow: not in all
        raise _Refusal(node, f"{name!r} is not defined{hint}")


def _check_assigned(node: ast.AST, name: str) -> None:
    _check_name(node, name)
    if name in FUNCTIONS or name == "range":
        raise _Refusal(node, f"{name!r} is a function of the kernel language; use another name")


def _check_name(node: ast.AST, name: str) -> None:
    if name.startswith("_"):
        raise _Refusal(node, "a name with a leading underscore is not part of the kernel language")
    if len(name) > MAX_NAME:
        raise _Refusal(node, f"a name has at most {MAX_NAME} characters, this one {len(name)}")


def _check_constant(node: ast.AST, value: object) -> None:
    if value is not None and type(value) not in _NUMBERS:
        raise _Refusal(node, f"{_describe(value)} is not part of the kernel language; use numbers")
    if isinstance(value, int) and value.bit_length() > INT_BITS:
        raise _Refusal(node, _in_words(OverflowError()))


# --- running: one walk over the checked tree -----------------------------------------------------


class _Run:
    """One interpretation of a kernel's body. The two tables below the class are the language."""

    statements: ClassVar[dict[type[ast.AST], Callable[[_Run, Any], ast.stmt | None]]]
    expressions: ClassVar[dict[type[ast.AST], Callable[[_Run, Any], object]]]

    def __init__(self, names: dict[str, object]) -> None:
        self.names = names
        self.steps = 0
        self.at: ast.AST | None = None  # the node at work, to be quoted when it fails
        self.result: object = None

    def block(self, body: Iterable[ast.stmt]) -> ast.stmt | None:
        """Run statements; what comes back is the break, continue or return that left the block."""
        for node in body:
            self._step(node)
            left = self.statements[type(node)](self, node)
            if left is not None:
                return left
        return None

    def value(self, node: ast.expr) -> object:
        """What an expression gives: a symbol, a number, None, or a tuple of these."""
        self._step(node)
        return self.expressions[type(node)](self, node)

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
                        raise KernelError(f"range takes whole numbers, got {_describe(bound)}")
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
        if type(left) in _NUMBERS and type(right) in _NUMBERS:
            return _calculate(op, left, right)
        if op is ast.Add and isinstance(left, tuple) and isinstance(right, tuple):
            size = len(left) + len(right)
            self._step(node, size)
            if size > MAX_TUPLE:
                raise KernelError(f"a tuple holds at most {MAX_TUPLE} values, got {size}")
            return left + right
        return _OPERATORS[op](_operand(left), _operand(right))

    def _unary(self, node: ast.UnaryOp) -> object:
        if isinstance(node.op, ast.Not):
            return not self._truth(node.operand)
        value = self.value(node.operand)
        self.at = node
        if isinstance(value, bool) and isinstance(node.op, ast.Invert):
            raise KernelError("use `not` with True and False; ~ is for bits and conditions")
        result = _SIGNS[type(node.op)](_operand(value))
        return _fitting(result) if type(value) in _NUMBERS else result

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
                result = _OPERATORS[type(op)](_operand(left), _operand(right))
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
            if isinstance(arg, tuple) and function is FUNCTIONS["sum"]:
                self._step(node, len(arg))
                for part in arg:
                    _operand(part)
            else:
                _operand(arg)
        result = cast("Callable[..., object]", function)(*args)
        return result if isinstance(result, Scalar | Image) else _fitting(result)

    def _attribute(self, node: ast.Attribute) -> object:
        return self._member(node, ATTRIBUTES)

    def _member(self, node: ast.Attribute, table: _Members) -> object:
        owner = self.value(node.value)
        self.at = node
        # The exact type decides: getattr never meets a type or a name that the table does not list.
        if node.attr in table.get(type(owner), ()):
            return getattr(owner, node.attr)
        message = f"{_describe(owner)} has no .{node.attr}"
        other = {Image: Tensor, Tensor: Image}.get(type(owner))
        if other is not None and node.attr in table[other]:
            raise DomainMismatch(message)
        raise KernelError(message)

    def _subscript(self, node: ast.Subscript) -> object:
        owner, index = self.value(node.value), self.value(node.slice)
        self.at = node
        if isinstance(owner, tuple | Vec):
            if type(index) is not int or not -len(owner) <= index < len(owner):
                got = index if type(index) in _NUMBERS else _describe(index)
                raise KernelError(f"expected an index in 0..{len(owner) - 1}, got {got}")
            return owner[index]
        for part in index if isinstance(index, tuple) else (index,):
            _operand(part)
        if isinstance(owner, Image | Tensor):
            return owner[cast("Any", index)]
        raise KernelError(f"{_describe(owner)} has no components")


_Run.statements = {
    ast.Assign: _Run._assign, ast.AugAssign: _Run._augment, ast.For: _Run._for, ast.If: _Run._if,
    ast.Return: _Run._return, ast.Pass: lambda _run, _node: None,
    ast.Break: lambda _run, node: node, ast.Continue: lambda _run, node: node,
}  # fmt: skip
_Run.expressions = {
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
    return _fitting(_OPERATORS[op](left, right))


def _fitting(number: object) -> object:
    if type(number) not in _NUMBERS:
        raise KernelError("the result is not a real number")
    if isinstance(number, int) and number.bit_length() > INT_BITS:
        raise OverflowError
    return number


def _operand(value: object) -> Any:
    """``value``, if operators and functions may see it: nothing but symbols and numbers."""
    if isinstance(value, Image):
        raise DomainMismatch("an image is not a number; read a pixel of it with src[0, 0]")
    if isinstance(value, Scalar) or type(value) in _NUMBERS:
        return value
    raise KernelError(f"expected a number, got {_describe(value)}")


def _as_condition(value: object) -> bool:
    return value is not None and bool(_operand(value))


def _parts(value: object) -> tuple[object, ...]:
    if isinstance(value, tuple | Vec):
        return tuple(value)
    raise KernelError(f"expected several values, got {_describe(value)}")
