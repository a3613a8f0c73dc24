"""How deep and how large a shader's text is, measured before anybody who recurses reads it.

naga's parser and validator, its SPIR-V writer and the driver's compiler call themselves for what is nested,
and for more than that: every term of ``a + a + …`` (a tree that is deep on the left), every ``else if``,
every ``.x`` of a chain, every declaration that needs another one, every function that is called, and for
every ``return``, ``break`` or ``case`` (a driver makes nested ifs of them). Where their stack ends, the
process ends. So this is counted here, in one walk over the tokens, and bounded; design/surfaces.md has what
was measured.

nesting       brackets that are open at once: ( [ { and the < of templates
depth         operators, members, else-ifs and jumps on the longest path into a function and those that it
              calls; at most, for it is the sum of the longest on each level
declarations  of the module; they bound chains of types, constants and calls
expansion     tokens, when every called function is written out, as drivers do
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from dala.errors import ShaderError

SIZE = 1 << 18  # characters
NESTING = 128
DEPTH = 1000
DECLARATIONS = 1000
EXPANSION = 1 << 18
STACK = 16 << 20  # bytes of stack for those who recurse

_COMMENT = re.compile(r"//|/\*")
_LINE_END = re.compile("[\n\v\f\r\x85\u2028\u2029]")  # as WGSL has it
_NESTED = re.compile(r"/\*|\*/")
_TOKEN = re.compile(
    r"[^\W\d]\w*|\d[\w.]*|<<=?|<=|&&|\|\||->|[-+*/%&|^!=]=|[-+*/%&|^~!.,;:=@()\[\]{}<>]"
)
_OPENS = frozenset("([{<")
_CLOSES = {")": "(", "]": "[", "}": "{"}
_ENDS_COMPARISON = frozenset(("{", *_CLOSES, ";", "&&", "||"))  # a < before them began no template
_OPERATORS = frozenset((".", "&&", "||", "<<", "<=", ">", "==", "!=", *"+-*/%&|^~!"))
_JUMPS = frozenset(("return", "break", "continue", "discard", "case", "default"))
_DECLARES = frozenset(("fn", "struct", "alias", "const", "override", "var", "const_assert"))


def check_wgsl(text: str) -> None:
    """Refuse a shader that is larger or nested deeper than compilers are known to bear."""
    if len(text) > SIZE:
        raise ShaderError(
            f"shader: {len(text)} characters; expected at most {SIZE}: keep tables in a storage buffer "
            "(set_uniform), or make several shaders of it"
        )
    functions = _Walk(without_comments(text)).run()
    for name, whole in _with_calls(functions).items():
        _check_whole(name, functions[name], whole)


def without_comments(text: str) -> str:
    """The text with a space for every comment; lines keep their numbers."""
    parts, at = [], 0
    while begin := _COMMENT.search(text, at):
        parts.append(text[at : begin.start()])
        at = _comment_end(text, begin)
        parts.append(" " + "\n" * text.count("\n", begin.start(), at))
    return "".join([*parts, text[at:]])


def _comment_end(text: str, begin: re.Match[str]) -> int:
    if begin[0] == "//":
        end = _LINE_END.search(text, begin.end())
        return len(text) if end is None else end.start()
    depth = 1
    for mark in _NESTED.finditer(text, begin.end()):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(text)


@dataclass(slots=True)
class Function:
    """What one function adds to those that call it."""

    line: int
    tokens: int = 0
    depth: int = 0  # of its deepest statement
    jumps: int = 0
    calls: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Level:
    """What is between two brackets: parts with a comma, a semicolon or a block's end between them."""

    bracket: str
    elses: int = 0  # of the part at hand
    links: int = 0  # since the last of them: operators, members, calls
    inner: int = 0  # the deepest bracket since then
    deepest: int = 0  # of all before

    @property
    def depth(self) -> int:
        """Of the part at hand."""
        return self.elses + self.links + self.inner

    def add_else(self) -> None:
        """One if is inside the other, and the condition before is not."""
        self.deepest = max(self.deepest, self.depth)
        self.elses, self.links, self.inner = self.elses + 1, 0, 0

    def end_part(self) -> None:
        self.deepest = max(self.deepest, self.depth)
        self.elses = self.links = self.inner = 0


class _Walk:
    """One pass over a shader's tokens. Where the text is malformed it need not be right, only end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0  # the token at hand
        self.levels = [_Level("")]
        self.declarations = 0
        self.functions: dict[str, Function] = {}
        self.function = Function(0)  # what is outside of all functions

    def run(self) -> Mapping[str, Function]:
        """Measure it all; the functions by their names."""
        found = list(_TOKEN.finditer(self.text))
        tokens = [match[0] for match in found]
        for match, before, token, after in zip(
            found, ["", *tokens], tokens, [*tokens[1:], ""], strict=False
        ):
            self.at = match.start()
            self._note(token, before, after)
            if not (token[0].isalnum() or token[0] == "_") or token == "else":
                self._nest(token, after)
        return self.functions

    def _note(self, token: str, before: str, after: str) -> None:
        """Names, calls, jumps, declarations."""
        if token in _DECLARES and len(self.levels) == 1:
            self.declarations += 1
            if self.declarations > DECLARATIONS:
                raise self._refusal("declarations in one shader", DECLARATIONS + 1, DECLARATIONS)
        if before == "fn":
            self.function = self.functions.setdefault(token, Function(self._line()))
        elif after == "(":
            self.function.calls[token] += 1
        self.function.tokens += 1
        self.function.jumps += token in _JUMPS

    def _nest(self, token: str, after: str) -> None:
        if token in _ENDS_COMPARISON:
            self._drop_comparisons()
        level = self.levels[-1]
        if token in _OPENS:
            if token != "{":
                self._link(level)  # an index, a call or a comparison
            self._open(token)
        elif token in _CLOSES:
            self._close(token, after)
        elif token == ">" and level.bracket == "<":
            self._pop()
        elif token == ";" or (token == "," and level.bracket != "<"):
            level.end_part()
        elif token == "else":
            level.add_else()
            self._check_depth(level)
        elif token in _OPERATORS:
            self._link(level)

    def _link(self, level: _Level) -> None:
        level.links += 1
        self._check_depth(level)

    def _open(self, bracket: str) -> None:
        self.levels.append(_Level(bracket))
        if len(self.levels) - 1 > NESTING:
            raise self._refusal("brackets inside one another", len(self.levels) - 1, NESTING)

    def _close(self, token: str, after: str) -> None:
        if self.levels[-1].bracket == _CLOSES[token]:
            self._pop()
        if token == "}" and after != "else":
            self.levels[-1].end_part()
            if len(self.levels) == 1:
                self.function.depth = max(self.function.depth, self.levels[0].deepest)
                self.levels[0].deepest = 0
                self.function = Function(0)

    def _drop_comparisons(self) -> None:
        while self.levels[-1].bracket == "<":
            self._pop()

    def _pop(self) -> None:
        level = self.levels.pop()
        level.end_part()
        outer = self.levels[-1]
        outer.inner = max(outer.inner, level.deepest + 1)
        self._check_depth(outer)

    def _check_depth(self, level: _Level) -> None:
        if level.depth > DEPTH:
            what = "operators, members, calls or else-ifs in one chain"
            raise self._refusal(what, level.depth, DEPTH)

    def _line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def _refusal(self, what: str, count: int, most: int) -> ShaderError:
        return ShaderError(
            f"shader: line {self._line()}: {count} {what}; expected at most {most}: "
            "split it with variables and functions, or use a loop"
        )


def _with_calls(functions: Mapping[str, Function]) -> dict[str, tuple[int, int]]:
    """Depth and tokens of every function together with those that it calls, by its name."""
    calls = {
        name: {called: n for called, n in function.calls.items() if called in functions}
        for name, function in functions.items()
    }
    whole: dict[str, tuple[int, int]] = {}
    for first in functions:
        waiting, entered = (
            [first],
            {first},
        )  # a cycle is left to the compiler: WGSL has no recursion
        while waiting:
            name = waiting[-1]
            missing = next((c for c in calls[name] if c not in whole and c not in entered), None)
            if missing is not None:
                waiting.append(missing)
                entered.add(missing)
                continue
            waiting.pop()
            parts = [(*whole.get(called, (0, 0)), n) for called, n in calls[name].items()]
            own = functions[name]
            whole[name] = (
                own.depth + own.jumps + max((depth for depth, _, _ in parts), default=0),
                own.tokens + sum(tokens * n for _, tokens, n in parts),
            )
    return whole


def _check_whole(name: str, function: Function, whole: tuple[int, int]) -> None:
    for what, count, most in (
        ("statements, jumps and cases inside one another", whole[0], DEPTH),
        ("tokens", whole[1], EXPANSION),
    ):
        if count > most:
            raise ShaderError(
                f"shader: line {function.line}: function {name} has, with all that it calls written out, "
                f"{count if count < 1 << 40 else 'more than a billion'} {what}; expected at most {most}: "
                "call less, or use a loop"
            )
