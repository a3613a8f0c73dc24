"""wgpu's warnings about what is not there are for who asked for them, or finds no GPU."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.webgpu
TALKATIVE = """
import logging, sys
{before}
import dala
from dala.backends.webgpu import adapters
from dala.backends.webgpu.wgpu_log import import_wgpu
wgpu = import_wgpu()
search = wgpu.gpu.enumerate_adapters_sync

def talkative():
    logging.getLogger("wgpu").warning("a trifle")
    {inside}
    return search()

wgpu.gpu.enumerate_adapters_sync = talkative
{after}
logging.getLogger("wgpu").warning("later")
"""


def stderr(before: str = "", inside: str = "pass", after: str = "assert dala.devices()") -> str:
    code = TALKATIVE.format(before=before, inside=inside, after=after)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_where_a_gpu_is_found_nobody_hears_of_what_is_missing() -> None:
    assert stderr() == "later\n"


def test_opening_a_gpu_is_as_silent() -> None:
    after = """
adapter = adapters.find_adapters()[0].handle
request = adapter.request_device_sync

def talkative(**wanted):
    logging.getLogger("wgpu").warning("VK_EXT_memory_budget is not available.")
    return request(**wanted)

adapter.request_device_sync = talkative
dala.use("webgpu").__enter__()
"""
    assert stderr(after=after) == "later\n"


def test_errors_are_said() -> None:
    assert stderr(inside="logging.getLogger('wgpu').error('broken')") == "broken\nlater\n"


def test_other_threads_are_heard() -> None:
    inside = """
    import threading
    other = threading.Thread(target=logging.getLogger("wgpu").warning, args=["elsewhere"])
    other.start(); other.join()
"""
    assert stderr(inside=inside) == "elsewhere\nlater\n"


def test_the_cpu_is_listed_in_silence_where_there_is_no_gpu() -> None:
    after = "assert dala.devices() == ['cpu', 'reference']"
    assert stderr(inside="return []", after=after) == "later\n"


def test_who_wants_a_gpu_and_gets_none_hears_once_what_wgpu_said() -> None:
    after = """
for _ in range(2):
    try:
        dala.use("webgpu").__enter__()
    except dala.DalaError as error:
        print(type(error).__name__, file=sys.stderr)
"""
    heard = stderr(inside="return []", after=after)
    assert heard.splitlines() == ["a trifle", "DeviceError", "DeviceError", "later"]


def test_a_search_that_fails_leaves_the_cpu_and_is_told_to_who_wants_a_gpu() -> None:
    after = """
assert dala.devices() == ['cpu', 'reference']
try:
    dala.use("webgpu")
except dala.errors.DeviceError as error:
    print(error, file=sys.stderr)
"""
    heard = stderr(inside="raise RuntimeError('no driver')", after=after)
    told = "webgpu: wgpu does not work here: RuntimeError: no driver"
    assert heard.splitlines() == ["a trifle", told, "later"]


def test_who_configures_logging_hears_everything() -> None:
    before = "logging.basicConfig(format='%(name)s: %(message)s')"
    assert "wgpu: a trifle\n" in stderr(before)


BOTH = ["a trifle", "later"]


@pytest.mark.parametrize(("level", "expected"), [("", BOTH), ("WARNING", BOTH), ("ERROR", [])])
def test_the_logger_may_be_configured_before_wgpu_is_imported(
    level: str, expected: list[str]
) -> None:
    before = f"""
given = logging.getLogger("wgpu")
given.addHandler(logging.StreamHandler())
given.setLevel({level!r} or logging.NOTSET)
"""
    after = """
assert dala.devices()
assert logging.getLogger("wgpu").handlers == given.handlers
"""
    heard = stderr(before, after=after).splitlines()
    assert [line for line in heard if line in ("a trifle", "later")] == expected
