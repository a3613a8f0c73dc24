"""Commands run in the order that their buffers and streams ask for, and no other."""

from __future__ import annotations

import threading

import pytest
from launches import PATIENCE_S, Launches, numbers, start

from dala import compute
from dala.compute import commands
from dala.errors import CommandTimeoutError

pytestmark = pytest.mark.usefixtures("device", "registry")


def test_reading_waits_for_the_write(launches: Launches) -> None:
    a, b = numbers(4), numbers(0)
    launches.hold("sqrt")
    start("sqrt", a, b)
    values: list[float] = []
    reader = threading.Thread(target=lambda: values.extend(compute.read_list(b)))
    reader.start()
    launches.wait_until_started("sqrt")
    assert values == []
    launches.let_go("sqrt")
    reader.join(PATIENCE_S)
    assert values == [2]


def test_writing_waits_for_the_readers(launches: Launches) -> None:
    a, b = numbers(4), numbers(0)
    launches.hold("sqrt")
    command = start("sqrt", a, b)  # reads a
    writer = threading.Thread(target=lambda: a.write([9]))
    writer.start()
    launches.wait_until_started("sqrt")
    assert writer.is_alive()
    launches.let_go("sqrt")
    writer.join(PATIENCE_S)
    command.wait()
    assert compute.read_list(b) == [2]
    assert compute.read_list(a) == [9]


def test_read_after_write_across_streams(launches: Launches) -> None:
    a, b, c = numbers(16), numbers(0), numbers(0)
    one, two = compute.stream(), compute.stream()
    launches.hold("sqrt")
    one.submit({"kernel": "sqrt", "inputs": [a], "output": b})
    second = two.submit(
        {"kernel": "scalar_add", "inputs": [b], "output": c, "params": {"scalar": 1}}
    )
    launches.wait_until_started("sqrt")
    assert second.status == "pending"
    launches.let_go("sqrt")
    two.synchronize()
    assert compute.read_list(c) == [5]
    assert launches.log == ["sqrt", "scalar_add"]


def test_write_after_read_across_streams(launches: Launches) -> None:
    a, b, c = numbers(16), numbers(0), numbers(-3)
    one, two = compute.stream(), compute.stream()
    launches.hold("sqrt")
    one.submit({"kernel": "sqrt", "inputs": [a], "output": b})  # reads a
    two.submit({"kernel": "abs", "inputs": [c], "output": a})  # writes a
    launches.wait_until_started("sqrt")
    launches.let_go("sqrt")
    compute.synchronize()
    assert compute.read_list(b) == [4]
    assert compute.read_list(a) == [3]


def test_write_after_write_across_streams(launches: Launches) -> None:
    a, b = numbers(16), numbers(0)
    one, two = compute.stream(), compute.stream()
    launches.hold("sqrt")
    one.submit({"kernel": "sqrt", "inputs": [a], "output": b})
    two.submit({"kernel": "relu", "inputs": [a], "output": b})
    launches.wait_until_started("sqrt")
    launches.let_go("sqrt")
    compute.synchronize()
    assert compute.read_list(b) == [16]


def test_readers_may_overlap(launches: Launches) -> None:
    a, b, c = numbers(16), numbers(0), numbers(0)
    launches.hold("sqrt")
    held = compute.stream().submit({"kernel": "sqrt", "inputs": [a], "output": b})
    launches.wait_until_started("sqrt")
    compute.stream().submit({"kernel": "abs", "inputs": [a], "output": c}).wait(PATIENCE_S)
    assert held.status == "pending"
    assert compute.read_list(a) == [16]
    assert compute.read_list(c) == [16]
    launches.let_go("sqrt")


def test_a_stream_is_in_order_even_without_shared_buffers(launches: Launches) -> None:
    a, b, c = numbers(16), numbers(0), numbers(0)
    stream = compute.stream()
    launches.hold("sqrt")
    stream.submit({"kernel": "sqrt", "inputs": [a], "output": b})
    second = stream.submit({"kernel": "abs", "inputs": [a], "output": c})
    launches.wait_until_started("sqrt")
    with pytest.raises(CommandTimeoutError):
        second.wait(0.02)
    launches.let_go("sqrt")
    second.wait(PATIENCE_S)
    assert launches.log == ["sqrt", "abs"]


def test_the_default_stream_is_in_order(launches: Launches) -> None:
    a, b, c = numbers(16), numbers(0), numbers(0)
    launches.hold("sqrt")
    start("sqrt", a, b)
    second = start("abs", a, c)
    launches.wait_until_started("sqrt")
    assert second.status == "pending"
    launches.let_go("sqrt")
    second.wait(PATIENCE_S)


def test_a_long_chain_in_order() -> None:
    a = numbers(0)
    spec = {"kernel": "scalar_add", "inputs": [a], "output": a, "params": {"scalar": 1}}
    submitted = [compute.submit(spec) for _ in range(500)]
    submitted[-1].wait(PATIENCE_S)
    assert compute.read_list(a) == [500]
    assert {c.status for c in submitted} == {"completed"}


def test_synchronize_waits_for_every_stream() -> None:
    buffers = [numbers(float(n)) for n in range(30)]
    submitted = [
        compute.stream().submit({"kernel": "sqrt", "inputs": [b], "output": b}) for b in buffers
    ]
    compute.synchronize()
    assert {c.status for c in submitted} == {"completed"}
    assert not commands.pending


def test_many_streams_that_cross() -> None:
    """Each stream adds to every buffer in turn; whatever the overlap, nothing is lost."""
    buffers = [numbers(0) for _ in range(4)]
    streams = [compute.stream() for _ in range(10)]
    for n in range(20):
        for k, stream in enumerate(streams):
            b = buffers[(n + k) % len(buffers)]
            stream.submit(
                {"kernel": "scalar_add", "inputs": [b], "output": b, "params": {"scalar": 1}}
            )
    compute.synchronize()
    assert [compute.read_list(b) for b in buffers] == [[50.0]] * 4
