"""``dala info``: version, devices and extras of this machine."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib import metadata

from dala._version import __version__

EXTRAS = {  # what `pip install 'dala-gpu[…]'` brings
    "image": ("pillow",),
    "webgpu": ("wgpu",),
    "window": ("wgpu", "rendercanvas", "glfw"),
    "video": ("av",),
    "text": ("uharfbuzz", "pillow"),
    "ml": ("onnxruntime",),
    "cli": ("typer", "rich", "pillow"),
    "fleet": ("av", "pillow", "fsspec", "ray"),
}
ADDS = {  # and what that adds
    "image": "picture files: JPEG, PNG, TIFF, WebP, AVIF",
    "webgpu": "any GPU: Vulkan, Metal, DX12",
    "window": "surfaces in windows, with keys and mouse",
    "video": "video files, cameras, streams",
    "text": "text in every script",
    "ml": "models from ONNX files on the CPU",
    "cli": "the command dala",
    "fleet": "jobs on a Ray cluster, files by address (s3://…)",
    "all": "all of these but fleet",
}


@dataclass(frozen=True)
class Extra:
    """An optional part of dala: which packages of it are here, which are not."""

    name: str
    found: dict[str, str]  # package → version
    missing: tuple[str, ...]

    @property
    def command(self) -> str:
        return install_command(self.name)


def install_command(extra: str) -> str:
    """What a person types to get it."""
    return f"pip install 'dala-gpu[{extra}]'"


def extras_in_words() -> str:
    """What every extra adds, one a line; for those who have none of them yet."""
    width = max(len(install_command(name)) for name in ADDS)
    return "\n".join(f"  {install_command(n):<{width}}  {adds}" for n, adds in ADDS.items())


def find_extras() -> list[Extra]:
    """Every extra, by the packages that are installed; nothing is imported."""
    extras = []
    for name, packages in EXTRAS.items():
        versions = {p: version_of(p) for p in packages}
        found = {p: v for p, v in versions.items() if v}
        extras.append(Extra(name, found, tuple(p for p in packages if not versions[p])))
    return extras


def version_of(package: str) -> str:
    """The installed version; empty if there is none."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def collect() -> dict[str, object]:
    """All of it, as JSON would have it."""
    from dala.backends.auto import choose_auto, list_devices
    from dala.backends.webgpu.adapters import find_adapters
    from dala.compute.default import device

    chosen, reason = choose_auto()
    adapters = [str(a) for a in find_adapters()]
    devices: dict[str, str] = {}
    for name in list_devices():
        if name.startswith("webgpu"):  # described without opening it: that takes a second
            devices[name] = adapters[int(name.partition(":")[2] or 0)]
        else:
            devices[name] = _in_words(device(name).describe())
    return {
        "version": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "auto": chosen,
        "reason": reason,
        "devices": devices,
        "extras": {e.name: {"found": e.found, "missing": list(e.missing)} for e in find_extras()},
    }


def _in_words(facts: dict[str, object]) -> str:
    words = str(facts["name"])
    if facts.get("threads") != 1:
        words += f", {facts['threads']} threads"
    return words


def show_info(*, as_json: bool) -> None:
    """Print what there is."""
    from dala.cli.screen import say, say_columns, say_heading, say_json

    facts = collect()
    if as_json:
        say_json(facts)
        return
    say_heading(f"dala {facts['version']}")
    say(f"Python {facts['python']}, {facts['platform']}", "dim")
    say()
    say_heading("Devices")
    devices = facts["devices"]
    assert isinstance(devices, dict)
    say_columns(list(devices.items()))
    say(f"auto is {facts['auto']}: {facts['reason']}", "dim")
    say()
    say_heading("Extras")
    rows = []
    for extra in find_extras():
        have = ", ".join(f"{package} {version}" for package, version in extra.found.items())
        lack = f"{extra.command} adds {ADDS[extra.name]}"
        rows.append((extra.name, lack if extra.missing else have))
    say_columns(rows)
