"""``dala models``: which models there are, whether their files are here and whole, how they get here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dala.cli.bars import Bars
from dala.cli.mistakes import FAILED, UsageMistake, explain_os_error
from dala.cli.screen import complain, say, say_columns, say_json
from dala.errors import ModelError, suggest
from dala.ml.catalogue import MODELS, ModelInfo, model_info
from dala.ml.store import cache_folder, fetch, file_sha256, folders, import_file, parts

ACTIONS = ("list", "verify", "import", "fetch")


def run_models(action: str, what: Sequence[str], address: str | None, *, as_json: bool) -> int:
    """Do what was asked for; the exit code."""
    if action not in ACTIONS:
        raise UsageMistake(
            f"dala models does {', '.join(ACTIONS)}, got {action!r}{suggest(action, ACTIONS)}"
        )
    if address is not None and action != "fetch":
        raise UsageMistake("--from is for dala models fetch")
    if action == "import":
        return _import(what)
    chosen = [model_info(name) for name in what] or list(MODELS.values())
    if action == "fetch":
        return _fetch(chosen, address)
    states = [_state(info, verify=action == "verify") for info in chosen]
    if as_json:
        say_json(states)
    else:
        _show(states, verbose=bool(what) or action == "verify")
    wrong = [s for s in states if s["state"] == "damaged"]
    return FAILED if wrong or (action == "verify" and any(s["missing"] for s in states)) else 0


def _state(info: ModelInfo, *, verify: bool) -> dict[str, object]:
    """A model and its files; only ``verify`` reads them whole."""
    found: dict[str, str] = {}
    damaged, missing = [], []
    for weights in parts(info):
        path = next((p for p in (f / weights.file for f in folders()) if p.is_file()), None)
        if path is None:
            missing.append(weights.file)
            continue
        found[weights.file] = str(path)
        if path.stat().st_size != weights.bytes or (verify and file_sha256(path) != weights.sha256):
            damaged.append(weights.file)
    state = "damaged" if damaged else "missing" if missing else "verified" if verify else "here"
    return {
        "name": info.name,
        "title": info.title,
        "state": state,
        "files": found,
        "missing": missing,
        "damaged": damaged,
        "licence": info.licence,
        "source": info.source,
        "sha256": info.sha256,
        "bytes": sum(w.bytes for w in parts(info)),
        "note": info.note,
    }


def _show(states: Sequence[dict[str, object]], *, verbose: bool) -> None:
    rows = [
        (str(s["name"]), str(s["state"]), f"{s['title']} ({s['licence']}, {_size(s)})")
        for s in states
    ]
    say_columns(rows, styles=("cyan", "green"), indent=0)
    if not verbose:
        say()
        say(f"looked for in {', '.join(map(str, folders()))}", "dim")
        say("dala models import FILE and dala models fetch NAME --from URL bring them here", "dim")
        return
    for s in states:
        say()
        facts = [("source", str(s["source"])), ("sha256", str(s["sha256"]))]
        facts += [("file", path) for path in s["files"].values()]  # type: ignore[attr-defined]
        facts += [(word, name) for word in ("missing", "damaged") for name in s[word]]  # type: ignore[attr-defined]
        facts += [("note", str(s["note"]))] if s["note"] else []
        say(str(s["name"]), "bold")
        say_columns(facts)


def _size(state: dict[str, object]) -> str:
    return f"{int(str(state['bytes'])) / 1e6:.1f} MB"


def _import(files: Sequence[str]) -> int:
    if not files:
        raise UsageMistake("which file? dala models import FILE...")
    failed = 0
    for file in files:
        try:
            name, path = import_file(Path(file))
            say(f"{file} is {name}, kept as {path}")
        except ModelError as error:
            failed += 1
            complain("dala models", str(error))
        except OSError as error:
            failed += 1
            complain("dala models", explain_os_error(error))
    return FAILED if failed else 0


def _fetch(chosen: Sequence[ModelInfo], address: str | None) -> int:
    failed = 0
    with Bars(len(chosen), shown=True) as bars:
        for info in chosen:
            bars.begin(info.name)
            try:
                fetch(info.name, address)
            except ModelError as error:
                failed += 1
                complain("dala models", str(error))
            bars.finish(None)
    if not failed:
        say(f"{', '.join(i.name for i in chosen)}: in {cache_folder()}")
    return FAILED if failed else 0
