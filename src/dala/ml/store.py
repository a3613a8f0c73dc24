"""Where weights are, and how they get there.

    a folder given  →  DALA_MODELS (folders, as in PATH)  →  the cache

Nothing is loaded by a model's name unless its sha256 is the catalogue's. Files come into the cache by
``import_file`` (what a user has) or ``fetch`` (from an address that the user names).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from dala import forking
from dala.errors import ModelError, ModelNotFoundError, ParameterError
from dala.ml.catalogue import MODELS, ModelInfo, Weights

FOLDERS = "DALA_MODELS"
CACHE = "DALA_CACHE"
ADDRESS = "DALA_MODELS_URL"
PIECE = 1 << 20
TIMEOUT_S = 30.0

_lock = forking.lock()
_verified: dict[tuple[str, int, int], str] = {}  # (path, mtime, size) → sha256


def cache_folder() -> Path:
    """Where models are kept: ``DALA_CACHE``, or the system's place for caches."""
    given = os.environ.get(CACHE)
    if given:
        return Path(given) / "models"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "dala" / "models"


def folders(given: str | os.PathLike[str] | None = None) -> list[Path]:
    """Where to look, in order; a folder that is given is the only one."""
    if given is not None:
        return [Path(given)]
    listed = [Path(part) for part in os.environ.get(FOLDERS, "").split(os.pathsep) if part]
    return [*listed, cache_folder()]


def find_weights(
    info: ModelInfo, weights: Weights, folder: str | os.PathLike[str] | None = None
) -> Path:
    """A model's file, checked; a file of that name with other content is an error, not passed over."""
    places = folders(folder)
    for place in places:
        path = place / weights.file
        if path.is_file():
            check_file(path, weights)
            return path
    raise ModelNotFoundError(
        f"{info.name}: no {weights.file} in {', '.join(map(str, places))}; name its folder in {FOLDERS}, "
        f"or bring it in: dala models import FILE, or dala models fetch {info.name} --from URL"
    )


def check_file(path: Path, weights: Weights) -> None:
    """Refuse a file that is not the catalogue's."""
    found = file_sha256(path)
    if found != weights.sha256:
        raise ModelError(
            f"{path}: its sha256 is {found[:16]}…, expected {weights.sha256[:16]}…: damaged, or another "
            "model of that name; load one of your own by its path under another name"
        )


def file_sha256(path: Path) -> str:
    """Read once as long as the file does not change."""
    facts = path.stat()
    key = str(path.resolve()), facts.st_mtime_ns, facts.st_size
    with _lock:
        known = _verified.get(key)
    if known is not None:
        return known
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    with _lock:
        _verified[key] = digest.hexdigest()
    return digest.hexdigest()


def parts(info: ModelInfo) -> list[Weights]:
    """The files that a model consists of."""
    return [info.weights] if info.labels is None else [info.weights, info.labels]


def import_file(path: str | os.PathLike[str]) -> tuple[str, Path]:
    """Copy a file into the cache if it is one of the catalogue's; its model, and where it is."""
    source = Path(path)
    found = file_sha256(source)
    for info in MODELS.values():
        for weights in parts(info):
            if weights.sha256 == found:
                with source.open("rb") as file:
                    return info.name, _keep(file, weights, str(source))
    raise ModelError(
        f"{source}: none of the known models has the sha256 {found[:16]}…; a file of your own needs no "
        f"import: load_model({str(source)!r})"
    )


def fetch(
    name: str, address: str | None = None, progress: Callable[[int, int], None] | None = None
) -> list[Path]:
    """Download a model's files from ``address`` (or ``DALA_MODELS_URL``), a folder's URL, into the cache;
    what is there already is left alone, and what does not have the catalogue's sha256 is not kept.
    """
    from dala.ml.catalogue import model_info

    info = model_info(name)
    kept = []
    for weights in parts(info):
        path = cache_folder() / weights.file
        if not path.is_file() or file_sha256(path) != weights.sha256:
            with _opened(_url(address, weights, info), weights) as stream:
                path = _keep(stream, weights, stream.url, progress)
        kept.append(path)
    return kept


def _url(address: str | None, weights: Weights, info: ModelInfo) -> str:
    base = address or os.environ.get(ADDRESS)
    if not base:
        raise ParameterError(
            f"{info.name}: from where? give --from URL or set {ADDRESS}; the original is {info.source}"
        )
    scheme = urllib.parse.urlsplit(base).scheme
    if scheme not in ("https", "http"):
        raise ParameterError(f"models are fetched by https, got {base!r}")
    return f"{base.rstrip('/')}/{weights.file}"


@contextlib.contextmanager
def _opened(url: str, weights: Weights) -> Iterator[_Response]:
    request = urllib.request.Request(url, headers={"User-Agent": "dala"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
            yield _Response(response, url)
    except urllib.error.HTTPError as error:
        error.close()
        raise ModelError(f"{url}: the server says {error.code}, {error.reason}") from error
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise ModelError(f"{url}: {reason}") from error


class _Response:
    """A download, as a file with an address."""

    def __init__(self, stream: BinaryIO, url: str) -> None:
        self._stream = stream
        self.url = url

    def read(self, size: int) -> bytes:
        return self._stream.read(size)


def _keep(
    source: BinaryIO | _Response,
    weights: Weights,
    where: str,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write a file into the cache whole or not at all; never more than its size is read."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f".{weights.file}.{secrets.token_hex(4)}.part"
    try:
        with unfinished.open("wb") as file:
            written, digest = _copy(source, file, weights, where, progress)
        if digest != weights.sha256:
            raise ModelError(
                f"{where}: {written} bytes of sha256 {digest[:16]}…, expected "
                f"{weights.bytes} of {weights.sha256[:16]}…; it was not kept"
            )
        os.replace(unfinished, folder / weights.file)
    finally:
        unfinished.unlink(missing_ok=True)
    return folder / weights.file


def _copy(
    source: BinaryIO | _Response,
    file: BinaryIO,
    weights: Weights,
    where: str,
    progress: Callable[[int, int], None] | None,
) -> tuple[int, str]:
    """How many bytes there were, and their sha256."""
    digest, written = hashlib.sha256(), 0
    while piece := source.read(min(PIECE, weights.bytes + 1 - written)):
        written += len(piece)
        if written > weights.bytes:
            raise ModelError(f"{where}: larger than the {weights.bytes} bytes it must have")
        digest.update(piece)
        file.write(piece)
        if progress is not None:
            progress(written, weights.bytes)
    return written, digest.hexdigest()
