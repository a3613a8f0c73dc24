"""Every order in which threads can run a piece of LLVM text: what no number of runs shows.

The text is interpreted one shared-memory access at a time. All states that can be reached are visited, and
from each of them the end must still be reachable: after a lost wake-up, or where nobody calls a thread any
more, it is not.

Memory is sequentially consistent here, which is what x86 gives to the read-modify-writes of the pool.
``wait`` and ``wake`` are those of parking.py; ``wake`` chooses any of those who sleep. ``now`` stands
still: a text whose spinning lasts no time goes to sleep at once, which is where wake-ups could get lost.
Threads that do the same are interchangeable, so that states which differ by their names are one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

_LABEL = re.compile(r"([\w.]+):")
_PREDICATES: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "sge": lambda a, b: a >= b,
    "sgt": lambda a, b: a > b, "slt": lambda a, b: a < b, "ule": lambda a, b: a <= b,
}  # fmt: skip
_SUMS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
}  # fmt: skip
_NAME = r"(%[\w.]+)"
_FORMS = {  # of instructions: what they are called here, and what they look like
    "address": rf"{_NAME} = getelementptr (i8|i64), ptr (\S+), i64 (\S+)",
    "phi": rf"{_NAME} = phi \w+ (.*)",
    "sum": rf"{_NAME} = (add|sub|mul|and|or|xor) \w+ (\S+), (\S+)",
    "compare": rf"{_NAME} = icmp (\w+) \w+ (\S+), (\S+)",
    "select": rf"{_NAME} = select i1 (\S+), \w+ (\S+), \w+ (\S+)",
    "pick": rf"{_NAME} = extractvalue .* (\S+), (\d)",
    "same": rf"{_NAME} = (?:trunc|ptrtoint|inttoptr) \w+ (\S+) to (\w+)",
    "load": rf"{_NAME} = load (?:atomic )?(?:volatile )?\w+, ptr (\S+).*",
    "store": r"store (?:atomic )?\w+ (\S+), ptr (\S+).*",
    "modify": rf"{_NAME} = atomicrmw (add|sub|and|or) ptr (\S+), \w+ (\S+) \w+",
    "swap": rf"{_NAME} = cmpxchg ptr (\S+), \w+ (\S+), \w+ (\S+) \w+ \w+",
    "call": r"(?:%([\w.]+) = )?call \w+ ([@%][\w.]+)\((.*)\)",
    "branch": r"br i1 (\S+), label %(\S+), label %(\S+)",
    "jump": r"br label %(\S+)",
    "return": r"ret .*",
}
_SHARED = ("load", "store", "modify", "swap")
_LOW = 0xFFFFFFFF  # what a wait looks at
AWAKE = -1  # sleeps on no address
_KNOWN: dict[str, Callable[..., int]] = {
    "@now": lambda: 0, "@relax": lambda: 0, "@free": lambda _: 0, "@malloc": lambda _: 4096,
    "@llvm.smin.i32": min, "@llvm.smax.i32": max,
}  # fmt: skip
Names: TypeAlias = "dict[str, int]"
Memory: TypeAlias = "dict[int, int]"
Threads: TypeAlias = "tuple[Thread, ...]"


class Step(NamedTuple):
    kind: str
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Function:
    """Its parameters, and per block what it does."""

    parameters: tuple[str, ...]
    first: str
    blocks: dict[str, tuple[Step, ...]]
    live: dict[tuple[str, int], frozenset[str]]  # what is still needed at a place


class Frame(NamedTuple):
    """Where a call is, and the values that it still needs."""

    function: str
    block: str
    place: int
    values: tuple[tuple[str, int], ...]


class Thread(NamedTuple):
    frames: tuple[Frame, ...]  # none: it has ended
    waits_for: int = AWAKE  # or an address that it sleeps on


class State(NamedTuple):
    callers: tuple[Thread, ...]  # they must come to their end
    helpers: tuple[Thread, ...]  # they serve for ever
    memory: tuple[tuple[int, int], ...]


def read_functions(text: str) -> dict[str, Function]:
    """The functions that a text defines."""
    found = {}
    for name, parameters, body in re.findall(
        r"define [\w ]*?@(\w+)\((.*?)\) \{\n(.*?)\n\}", text, re.DOTALL
    ):
        names = tuple(re.findall(r"%[\w.]+", parameters))
        found[name] = _read_body(names, body)
    return found


def _read_body(parameters: tuple[str, ...], body: str) -> Function:
    blocks: dict[str, list[Step]] = {}
    here = first = "entry"
    for line in (text.split(";")[0].strip() for text in body.splitlines()):
        label = _LABEL.match(line)
        if label:
            here = label[1]
            first = first if blocks else here
        elif line:
            blocks.setdefault(here, []).append(_read_step(line))
    done = {name: tuple(steps) for name, steps in blocks.items()}
    return Function(parameters, first, done, _find_live(done))


def _read_step(line: str) -> Step:
    for kind, form in _FORMS.items():
        if match := re.fullmatch(form, line):
            return Step(kind, tuple(part or "" for part in match.groups()))
    raise ValueError(f"cannot interpret: {line}")


def _find_live(blocks: dict[str, tuple[Step, ...]]) -> dict[tuple[str, int], frozenset[str]]:
    """What is needed from each place on; a phi needs its values where its block is left for."""
    live = {(b, n): frozenset[str]() for b, steps in blocks.items() for n in range(len(steps) + 1)}
    changed = True
    while changed:
        changed = False
        for block, steps in blocks.items():
            for n in range(len(steps) - 1, -1, -1):
                step = steps[n]
                made, *used = step.parts if step.parts else ("",)
                if step.kind in ("store", "branch", "jump", "return"):
                    made, used = "", list(step.parts)
                needed = {name for part in used for name in re.findall(r"%[\w.]+", part)}
                if step.kind == "phi":
                    needed = set()
                after = set(live[block, n + 1])
                for target in step.parts if step.kind in ("branch", "jump") else ():
                    if target in blocks:
                        after |= live[target, 0] | _given_by_phis(blocks[target], block)
                now = frozenset((after - {made, "%" + made}) | needed)
                if now != live[block, n]:
                    live[block, n] = now
                    changed = True
    return live


def _given_by_phis(steps: tuple[Step, ...], source: str) -> set[str]:
    return {
        value
        for step in steps
        if step.kind == "phi"
        for value, label in _choices(step)
        if label == source and value.startswith("%")
    }


def _choices(step: Step) -> list[tuple[str, str]]:
    return re.findall(r"\[ (\S+), %(\S+) \]", step.parts[1])


class Explorer:
    """All states of some callers and some helpers. What ``%work`` points to is the function ``work``."""

    def __init__(self, text: str) -> None:
        self.functions = read_functions(text)
        self.states = 0  # that were visited

    def thread(self, name: str, *arguments: int) -> Thread:
        """A thread that is about to call a function."""
        return Thread((self._called(name, arguments),))

    def find_dead_ends(self, start: State, most: int) -> set[State]:
        """The states that can be reached (at most so many) and from which the callers' end cannot be."""
        before: dict[State, list[State]] = {start: []}
        ends = []
        todo = [start]
        while todo:
            state = todo.pop()
            if not any(caller.frames for caller in state.callers):
                ends.append(state)
                continue
            for follower in self._followers(state):
                if follower not in before:
                    before[follower] = []
                    todo.append(follower)
                before[follower].append(state)
            assert len(before) <= most, f"more than {most} states"
        self.states = len(before)
        good = set(ends)
        while ends:
            for state in before[ends.pop()]:
                if state not in good:
                    good.add(state)
                    ends.append(state)
        return set(before) - good

    def _followers(self, state: State) -> Iterator[State]:
        """The states that one access of one thread leads to."""
        callers = len(state.callers)
        threads = (*state.callers, *state.helpers)
        for n, thread in enumerate(threads):
            again = n > callers and thread == threads[n - 1]  # the same helper by another name
            if thread.frames and thread.waits_for == AWAKE and not again:
                for now, memory in self._advance(threads, n, dict(state.memory)):
                    yield State(
                        now[:callers], tuple(sorted(now[callers:])), tuple(sorted(memory.items()))
                    )

    def _advance(
        self, threads: Threads, n: int, memory: Memory
    ) -> Iterator[tuple[Threads, Memory]]:
        """One thread goes on up to and with its next access; what it does for itself nobody sees."""
        frames = list(threads[n].frames)
        sleeps_on, wakes = AWAKE, (0, 0)
        shared = False
        while frames and not shared:
            frame = frames.pop()
            values = dict(frame.values)
            step = self.functions[frame.function].blocks[frame.block][frame.place]
            if step.kind == "return":
                continue
            if step.kind in ("branch", "jump"):
                frames.append(self._enter(frame, _target(step, values), values))
                continue
            called = None
            if step.kind in _SHARED:
                _access(step, values, memory)
                shared = True
            elif step.kind != "call":
                _compute(step, values)
            else:
                result, name, given = step.parts
                arguments = [
                    _number(word.split()[-1], values) for word in given.split(", ") if word
                ]
                if name == "@wait":
                    _own, where, value = arguments
                    same = (memory.get(where, 0) ^ value) & _LOW == 0
                    sleeps_on, shared = where if same else AWAKE, True
                elif name == "@wake":
                    wakes, shared = (arguments[1], arguments[2]), True
                elif name in _KNOWN:
                    values["%" + result] = _KNOWN[name](*arguments)
                else:
                    called = self._called("work" if name == "%work" else name[1:], arguments)
            frames.append(self._frame(frame.function, frame.block, frame.place + 1, values))
            frames += [called] if called else []
        now = (*threads[:n], Thread(tuple(frames), sleeps_on), *threads[n + 1 :])
        for chosen in _combinations_woken(now, *wakes):
            yield chosen, memory

    def _called(self, name: str, arguments: Iterable[int]) -> Frame:
        function = self.functions[name]
        values = dict(zip(function.parameters, arguments, strict=True))
        return self._frame(name, function.first, 0, values)

    def _enter(self, frame: Frame, target: str, values: Names) -> Frame:
        """The block that is jumped to; its phis take their values together."""
        steps = self.functions[frame.function].blocks[target]
        phis = list(itertools.takewhile(lambda step: step.kind == "phi", steps))
        taken = {
            step.parts[0]: _number(word, values)
            for step in phis
            for word, label in _choices(step)
            if label == frame.block
        }
        return self._frame(frame.function, target, len(phis), {**values, **taken})

    def _frame(self, name: str, block: str, place: int, values: Names) -> Frame:
        live = self.functions[name].live[block, place]
        needed = sorted((name, value) for name, value in values.items() if name in live)
        return Frame(name, block, place, tuple(needed))


def _combinations_woken(threads: Threads, where: int, count: int) -> Iterator[Threads]:
    """Any so many of those who sleep there are awake."""
    asleep = [n for n, thread in enumerate(threads) if thread.waits_for == where and count]
    for chosen in itertools.combinations(asleep, min(count, len(asleep))):
        yield tuple(
            thread._replace(waits_for=AWAKE) if n in chosen else thread
            for n, thread in enumerate(threads)
        )


def _number(word: str, values: Names) -> int:
    if word.startswith("%"):
        return values[word]
    return 0 if word == "null" else 1 if word == "true" else int(word)


def _target(step: Step, values: Names) -> str:
    if step.kind == "jump":
        return step.parts[0]
    condition, then, otherwise = step.parts
    return then if _number(condition, values) else otherwise


def _access(step: Step, values: Names, memory: Memory) -> None:
    if step.kind == "store":
        value, where = step.parts
        memory[_number(where, values)] = _number(value, values)
        return
    name, *words = step.parts
    operation = words.pop(0) if step.kind == "modify" else ""
    where, *numbers = (_number(word, values) for word in words)
    seen = memory.get(where, 0)
    values[name] = seen
    if step.kind == "modify":
        memory[where] = _SUMS[operation](seen, numbers[0])
    elif step.kind == "swap":
        expected, new = numbers
        values[name] = 2 * seen + (seen == expected)  # a pair; _compute takes it apart
        memory[where] = new if seen == expected else seen


def _compute(step: Step, values: Names) -> None:
    name, *words = step.parts
    kind = words.pop(0) if step.kind in ("address", "sum", "compare") else ""
    if step.kind == "same":
        value = _number(words[0], values) & (_LOW if words[1] == "i32" else -1)
        values[name] = value
        return
    numbers = [_number(word, values) for word in words]
    if step.kind == "address":
        values[name] = numbers[0] + numbers[1] * (8 if kind == "i64" else 1)
    elif step.kind == "sum":
        values[name] = _SUMS[kind](*numbers)
    elif step.kind == "compare":
        values[name] = int(_PREDICATES[kind](*numbers))
    elif step.kind == "select":
        values[name] = numbers[1] if numbers[0] else numbers[2]
    else:
        values[name] = numbers[0] & 1 if numbers[1] else numbers[0] >> 1
