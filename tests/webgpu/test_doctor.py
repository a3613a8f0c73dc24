"""Adapters: which is best, what is missing, and in which words."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from processes import run_to_the_end

from dala.backends import auto
from dala.backends.webgpu import adapters
from dala.backends.webgpu.adapters import Adapter, best_real_gpu, choose_adapter, why_none
from dala.backends.webgpu.doctor import Found, advise
from dala.errors import DeviceError

LAVAPIPE = Adapter(None, "llvmpipe", "CPU", "Vulkan", "Mesa")
CARD = Adapter(None, "Card", "DiscreteGPU", "Vulkan", "")
CARD_GL = replace(CARD, backend="OpenGL")
CHIP = Adapter(None, "Chip", "IntegratedGPU", "Vulkan", "")


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Adapter]:
    """The adapters of a machine that a test makes up."""
    listed: list[Adapter] = []
    monkeypatch.setattr(adapters, "_enumerate", lambda: listed)
    monkeypatch.setattr(adapters, "_found", None)
    monkeypatch.setattr(adapters, "has_wgpu", lambda: True)
    monkeypatch.delenv("DALA_DEVICE", raising=False)
    monkeypatch.delenv("DALA_GPU_POWER", raising=False)
    return listed


def test_a_real_gpu_comes_first(found: list[Adapter]) -> None:
    found += [LAVAPIPE, CHIP, CARD_GL, CARD]
    assert adapters.find_adapters() == [CARD, CARD_GL, CHIP, LAVAPIPE]
    assert choose_adapter(None) is CARD
    assert choose_adapter(3) is LAVAPIPE
    with pytest.raises(
        DeviceError, match=r"^no device 'webgpu:4'; there is webgpu:0 Card \(Vulkan\), "
    ):
        choose_adapter(4)


def test_power_preference(found: list[Adapter], monkeypatch: pytest.MonkeyPatch) -> None:
    found += [LAVAPIPE, CARD, CHIP]
    monkeypatch.setenv("DALA_GPU_POWER", "low")
    assert adapters.find_adapters() == [CHIP, CARD, LAVAPIPE]


def test_auto_takes_a_real_gpu(found: list[Adapter]) -> None:
    found += [LAVAPIPE, CARD]
    assert auto.choose_auto() == ("webgpu", "Card (Vulkan) is the best GPU here")
    assert auto.list_devices() == ["cpu", "webgpu", "webgpu:1", "reference"]


def test_auto_stays_with_the_cpu_if_the_gpu_is_software(found: list[Adapter]) -> None:
    found += [LAVAPIPE]
    name, reason = auto.choose_auto()
    assert name == "cpu"
    assert "the only adapter is llvmpipe (Vulkan, software), slower than the CPU" in reason


def test_no_adapter(found: list[Adapter]) -> None:
    assert auto.choose_auto()[0] == "cpu"
    assert auto.list_devices() == ["cpu", "reference"]
    with pytest.raises(DeviceError, match=r"^webgpu: no GPU was found; `python -m dala doctor`"):
        choose_adapter(None)


def test_no_wgpu(found: list[Adapter], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapters, "has_wgpu", lambda: False)
    assert why_none() == "wgpu is not installed; pip install 'dala-gpu[webgpu]'"
    assert best_real_gpu() == (None, "wgpu is not installed (pip install 'dala-gpu[webgpu]')")


DOES_NOT_LOAD = """
    import os
    os.environ.pop("DALA_DEVICE", None)
    os.environ["WGPU_LIB_PATH"] = os.devnull  # what wgpu-py opens: no library, as one for another system
    import dala
    from dala import compute

    a = compute.buffer([-1.0, 2.0])
    compute.run_kernel("relu", [a], a)
    print(compute.read_list(a), compute.device_info()["device"])
    print("wgpu does not work here: OSError: " in compute.device_info()["reason"])
    try:
        dala.use("webgpu")
    except dala.errors.DeviceError as error:
        print(str(error).partition(" here: ")[0])
"""


def test_a_wgpu_that_does_not_load_leaves_the_cpu() -> None:
    """And every first use of dala with it; a GPU that is asked for by name is refused with the reason."""
    code, out, errors = run_to_the_end(DOES_NOT_LOAD)
    told = ["[0.0, 2.0] cpu", "True", "webgpu: wgpu does not work"]
    assert (code, out.splitlines()) == (0, told), errors


HEADLESS = Found(
    "linux",
    wgpu=True,
    drivers=("/usr/share/vulkan/icd.d/nvidia_icd.json",),
    nvidia=True,
)
ADVICE = {
    "no wgpu": (Found("linux", wgpu=False), ["pip install 'dala-gpu[webgpu]'"]),
    "a wgpu that does not load": (
        Found("linux", wgpu=True, fault="wgpu does not work here: OSError: no"),
        ["OSError: no", "--force-reinstall wgpu"],
    ),
    "no loader": (Found("linux", wgpu=True, loader=False), ["apt-get install libvulkan1"]),
    "no driver": (Found("linux", wgpu=True), ["apt-get install mesa-vulkan-drivers"]),
    "only lavapipe": (
        Found("linux", True, (("llvmpipe", True),), drivers=("/x/lvp_icd.x86_64.json",)),
        ["mesa-vulkan-drivers", '"auto" stays with the CPU'],
    ),
    "headless nvidia": (
        HEADLESS,
        ["sed s/libGLX_nvidia/libEGL_nvidia/", "export VK_DRIVER_FILES="],
    ),
    "nvidia in a container": (replace(HEADLESS, drivers=()), ["NVIDIA_DRIVER_CAPABILITIES=all"]),
    "windows": (Found("win32", wgpu=True), ["update the graphics driver"]),
    "all is well": (Found("linux", True, (("Card", False),)), []),
}


@pytest.mark.parametrize("name", ADVICE)
def test_advice_names_the_command(name: str) -> None:
    found, words = ADVICE[name]
    text = "\n".join(advise(found))
    assert bool(text) == bool(words)
    for part in words:
        assert part in text


def test_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dala", "doctor"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("dala doctor\n")
    assert "auto" in done.stdout
    wrong = subprocess.run(
        [sys.executable, "-m", "dala", "docter"], capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 2
    assert "no command 'docter'; did you mean 'doctor'?" in wrong.stderr
