"""Made once, by many threads at once; kept, forgotten and made again as said."""

from __future__ import annotations

import os
import threading

import pytest
from in_threads import PATIENCE_S, in_threads

from dala.once import OnceByKey, once, once_per_process


def test_many_threads_get_the_one_that_was_made() -> None:
    made: list[object] = []
    begun = threading.Event()

    @once
    def slow() -> object:
        made.append(object())
        begun.wait(0.05)  # others come meanwhile
        return made[-1]

    got: dict[int, object] = {}
    in_threads(8, lambda n: got.__setitem__(n, slow()))
    assert len(made) == 1 and set(map(id, got.values())) == {id(made[0])}


def test_what_fails_is_made_again() -> None:
    tries: list[int] = []

    @once
    def third_time() -> int:
        tries.append(1)
        if len(tries) < 3:
            raise RuntimeError("not yet")
        return 7

    for _ in range(2):
        with pytest.raises(RuntimeError, match="not yet"):
            third_time()
    assert third_time() == third_time() == 7 and len(tries) == 3


def test_each_key_is_made_once_and_nobody_waits_for_another() -> None:
    kept: OnceByKey[str, object] = OnceByKey(limit=8)
    meanwhile = threading.Event()

    def make_slow() -> object:
        assert meanwhile.wait(PATIENCE_S)  # until another key was made
        return object()

    def make_quick() -> object:
        meanwhile.set()
        return object()

    got: dict[int, object] = {}
    makers = {"slow": make_slow, "quick": make_quick}

    def ask(number: int) -> None:
        key = ("slow", "quick")[number // 4]
        got[number] = kept.get(key, makers[key])

    in_threads(8, ask)
    assert kept.made == 2 and len(set(map(id, got.values()))) == 2


def test_the_last_used_ones_stay() -> None:
    kept: OnceByKey[int, int] = OnceByKey(limit=2)
    for key in (1, 2, 1, 3):
        assert kept.get(key, lambda key=key: key * 10) == key * 10
    assert (kept.peek(1), kept.peek(2), kept.peek(3), len(kept)) == (10, None, 30, 2)
    kept.clear()
    assert kept.peek(1) is None


def test_a_failure_is_not_kept() -> None:
    kept: OnceByKey[str, int] = OnceByKey(limit=2)
    with pytest.raises(ZeroDivisionError):
        kept.get("a", lambda: 1 // 0)
    assert kept.get("a", lambda: 5) == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_goes_on_though_another_thread_was_making_it() -> None:
    kept: OnceByKey[str, int] = OnceByKey(limit=2)
    single = once_per_process(lambda: os.getpid())
    assert single() == os.getpid()
    inside, leave = threading.Event(), threading.Event()

    def make_slowly() -> int:
        inside.set()
        assert leave.wait(PATIENCE_S)
        return 1

    thread = threading.Thread(target=lambda: kept.get("a", make_slowly))
    thread.start()
    assert inside.wait(PATIENCE_S)
    child = os.fork()
    if child == 0:
        os._exit(0 if kept.get("a", lambda: 2) == 2 and single() == os.getpid() else 1)
    leave.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert kept.peek("a") == 1
