"""The pool's machine code in every order its threads can run in: whoever is offered work comes to it.

The text that is explored is the very one that is compiled, with one or two slots and no time to spin.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from interleavings import Explorer, State

from dala.backends.cpu.run import pool_code

BLOCK = 8000  # of work: how many have come to it, how many are waited for
WORK = """
define void @work(ptr %block, ptr %scratch) {
entry:
  %come = atomicrmw add ptr %block, i64 1 seq_cst
  %expected_at = getelementptr i64, ptr %block, i64 1
  br label %check
check:
  %here = load atomic i64, ptr %block acquire, align 8
  %expected = load i64, ptr %expected_at
  %all = icmp sge i64 %here, %expected
  br i1 %all, label %end, label %check
end:
  ret void
}
"""


def text_of(slots: int, woken: int) -> str:
    return pool_code.text_of_pool(SLOTS=slots, WOKEN=woken, SPIN_NS=0, SLEEPY=1) + WORK


def explore(text: str, *, helpers: int, wanted: Sequence[int], limit: int) -> set[State]:
    """One caller for each number of helpers that is wanted; its work ends when so many have come to it.

    Returns the dead ends.
    """
    explorer = Explorer(text)
    blocks = [BLOCK + 16 * n for n in range(len(wanted))]
    memory = {pool_code.LIMIT: limit}
    memory.update((block + 8, 1 + n) for block, n in zip(blocks, wanted, strict=True))
    calls = tuple(
        explorer.thread("run", 0, 0, block, 0, 0, n)
        for block, n in zip(blocks, wanted, strict=True)
    )
    serving = tuple(explorer.thread("serve", 0) for _ in range(helpers))
    start = State(calls, serving, tuple(sorted(memory.items())))
    dead_ends = explorer.find_dead_ends(start, most=100_000)
    assert explorer.states > 500
    return dead_ends


@pytest.mark.parametrize("woken", [1, 4])
def test_all_who_are_called_come(woken: int) -> None:
    """However they wake each other."""
    assert not explore(text_of(1, woken), helpers=2, wanted=[2], limit=3)


def test_whoever_was_turned_away_is_called_when_a_core_is_free() -> None:
    """Two callers use both cores. One needs a helper, who is admitted when the other one has left."""
    assert not explore(text_of(1, 4), helpers=1, wanted=[1, 0], limit=2)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("%p1 = atomicrmw add ptr %parked, i32 1 seq_cst", ""),  # nobody knows who sleeps
        ("%news = atomicrmw add ptr %wake, i32 1 seq_cst", ""),  # work that is made changes nothing
        ("i32 %seen)", "i32 %now.seen)"),  # looked at after the search, not before
        ("%full, label %hand_on, label %end", "%full, label %end, label %end"),  # nobody is called
    ],
)
def test_a_lost_wake_up_is_found(right: str, wrong: str) -> None:
    text = text_of(1, 4)
    assert right in text
    text = text.replace(right, wrong)
    text = text.replace(
        "call void @wait(ptr %own, ptr %wake, i32 %now.seen)",
        "%now.seen = load atomic i32, ptr %wake seq_cst, align 4\n"
        "  call void @wait(ptr %own, ptr %wake, i32 %now.seen)",
    )
    assert explore(text, helpers=1, wanted=[1, 0], limit=2)
