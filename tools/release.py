"""One version in three places, and the changelog.

python tools/release.py 0.2.0             writes it: [Unreleased] becomes [0.2.0] with today's date
python tools/release.py --check 0.2.0     only compares; exit 1 if they disagree
"""

from __future__ import annotations

import datetime
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNRELEASED = "## [Unreleased]\n"
VERSION = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")
PLACES = {
    "src/dala/_version.py": re.compile(r'(?<=__version__ = ")[^"]+'),
    "CITATION.cff": re.compile(r"(?<=^version: )\S+", re.MULTILINE),
}


def main() -> None:
    words = sys.argv[1:]
    check = words[:1] == ["--check"]
    if len(words) != 1 + check or not VERSION.fullmatch(words[-1]):
        raise SystemExit(__doc__)
    if check:
        wrong = disagreements(ROOT, words[-1])
        if wrong:
            raise SystemExit("\n".join(wrong))
    else:
        write(ROOT, words[-1], datetime.date.today())


def disagreements(root: Path, version: str) -> list[str]:
    """What does not say this version."""
    found = []
    for name, pattern in PLACES.items():
        said = pattern.search((root / name).read_text(encoding="utf-8"))
        if said is None or said[0] != version:
            found.append(f"{name} says {said and said[0]}, not {version}")
    if f"\n## [{version}] - " not in (root / "CHANGELOG.md").read_text(encoding="utf-8"):
        found.append(f"CHANGELOG.md has no section [{version}]")
    return found


def write(root: Path, version: str, day: datetime.date) -> None:
    """Name the version everywhere."""
    log = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if f"## [{version}]" in log:
        raise SystemExit(f"CHANGELOG.md has a section [{version}] already")
    head, found, rest = log.partition(UNRELEASED)
    if not found or not rest.partition("\n## [")[0].strip():
        raise SystemExit("CHANGELOG.md: nothing stands under [Unreleased]")
    new = f"{head}{UNRELEASED}\n## [{version}] - {day.isoformat()}\n{rest}"
    (root / "CHANGELOG.md").write_text(new, encoding="utf-8")
    for name, pattern in PLACES.items():
        path = root / name
        path.write_text(pattern.sub(version, path.read_text(encoding="utf-8"), 1), encoding="utf-8")


if __name__ == "__main__":
    main()
