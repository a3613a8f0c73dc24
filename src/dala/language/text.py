"""Reading kernel text: parsed with ``ast`` and checked, never executed.

    parse_kernel(text)   text → tree → every check that needs no values → TextFunction

interpret.py runs what was read; its two tables, STATEMENTS and EXPRESSIONS, are the whole language.
Text may come from strangers, so every cost is bounded: length and nesting here, steps and the size
of numbers and tuples there, and IR nodes by the trace.
"""

from __future__ import annotations

import ast
import textwrap
import warnings
from collections.abc import Sequence
from typing import NoReturn

from dala import forking
from dala.errors import KernelSyntaxError, suggest
from dala.language.interpret import (
    EXPRESSIONS,
    INT_BITS,
    MAX_TUPLE,
    NUMBERS,
    OPERATORS,
    SIGNS,
    STATEMENTS,
    TOO_LARGE,
    Argument,
    Members,
    TextFunction,
)
from dala.language.parameter import REQUIRED
from dala.language.quote import describe, quote_line, quote_node
from dala.language.vocabulary import ATTRIBUTES, FUNCTIONS, METHODS, VOCABULARY

MAX_TEXT = 64 * 1024  # characters
MAX_NAME = 64  # characters; also keeps the search for similar names cheap
MAX_DEPTH = 100  # nested constructs; each takes two Python frames, of the usual thousand

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
        message = quote_node(name, source, refusal.node, refusal.message)
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


_quiet = forking.lock()  # catch_warnings changes the whole process


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
        if isinstance(statement, ast.FunctionDef) or type(statement) in STATEMENTS:
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
                return SIGNS[type(sign)](value)
    raise _Refusal(node, "a default is a number, True, False or None")


def _check_body(function: ast.FunctionDef, body: Sequence[ast.stmt], arguments: set[str]) -> None:
    nodes = list(ast.walk(function))
    names = [n for n in nodes if isinstance(n, ast.Name)]
    known = arguments | {n.id for n in names if isinstance(n.ctx, ast.Store)}
    stack: list[tuple[ast.AST, bool]] = [(s, False) for s in reversed(body)]
    while stack:  # in the order of the text, so that the first mistake is the one reported
        node, in_loop = stack.pop()
        if type(node) not in STATEMENTS and type(node) not in EXPRESSIONS:
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
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) not in OPERATORS:
            _refuse_construct(op, at=node)
        case ast.Compare():
            _check_comparison(node)
    return [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr | ast.stmt)]


def _check_comparison(node: ast.Compare) -> None:
    for op, right in zip(node.ops, node.comparators, strict=True):
        if isinstance(op, ast.Is | ast.IsNot):
            if not isinstance(right, ast.Constant) or right.value is not None:
                raise _Refusal(node, "'is' only asks for None; compare numbers with ==")
        elif type(op) not in OPERATORS:
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
    if type(node.func) not in EXPRESSIONS:
        _refuse_construct(node.func)
    raise _Refusal(node, "only the functions and methods of the kernel language can be called")


def _check_member(node: ast.Attribute, name: str, table: Members) -> None:
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
    if value is not None and type(value) not in NUMBERS:
        raise _Refusal(node, f"{describe(value)} is not part of the kernel language; use numbers")
    if isinstance(value, int) and value.bit_length() > INT_BITS:
        raise _Refusal(node, TOO_LARGE)
