"""Keep constraints.txt complete: every distribution the project needs, and what those need, at the installed version.

usage: python .ci/pins.py            says what is missing or different, exit 1 if anything is
       python .ci/pins.py --write    writes constraints.txt from what is installed
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
UNPINNED = {"pip"}  # comes with Python's venv; a pin would make pip replace itself
HEADER = """\
# Every version longdoc is built and tested with, what it needs indirectly included; written by `.ci/pins.py --write`.
# torch: any build of this version will do, the CPU build is the small one. How to get it is in the README ("Install").
"""


def canonical(name: str) -> str:
    """The name by which package indexes know a distribution."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(requirements: Iterable[str]) -> dict[str, str]:
    """Name to installed version (without local part) of the requirements and of all that they require here.

    Raises PackageNotFoundError for one that is not installed.
    """
    versions: dict[str, str] = {}
    visited: set[tuple[str, str]] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        name = canonical(requirement.name)
        for extra in ("", *sorted(requirement.extras)):
            if (name, extra) in visited:
                continue
            visited.add((name, extra))
            installed = distribution(name)
            versions[name] = Version(installed.version).public
            children = [Requirement(text) for text in installed.requires or []]
            waiting += [child for child in children if child.marker is None or child.marker.evaluate({"extra": extra})]
    return {name: version for name, version in versions.items() if name not in UNPINNED}


def declared(project: Path) -> list[str]:
    """Every requirement of pyproject.toml: the project's own, its extras' and its build system's."""
    data = tomllib.loads(project.read_text(encoding="utf-8"))
    extras = data["project"].get("optional-dependencies", {}).values()
    return [*data["project"]["dependencies"], *(text for extra in extras for text in extra)]


def pinned(constraints: Path) -> dict[str, str]:
    """Name to version in a constraints file."""
    lines = [line.split("#")[0].strip() for line in constraints.read_text(encoding="utf-8").splitlines()]
    return {canonical(name): version for name, version in (line.split("==") for line in lines if line)}


def differences(required: dict[str, str], pins: dict[str, str]) -> list[str]:
    """What keeps a constraints file from pinning exactly what is needed, one sentence each."""
    missing = [f"{name}=={required[name]} is needed and not pinned" for name in sorted(required.keys() - pins.keys())]
    stray = [f"{name}=={pins[name]} is pinned and not needed" for name in sorted(pins.keys() - required.keys())]
    both = sorted(required.keys() & pins.keys())
    return missing + stray + [f"{n}: pinned {pins[n]}, installed {required[n]}" for n in both if pins[n] != required[n]]


def main(arguments: list[str]) -> int:
    """Check or write constraints.txt."""
    path = ROOT / "constraints.txt"
    try:
        required = needed(declared(ROOT / "pyproject.toml"))
    except PackageNotFoundError as error:
        print(f"pins: {error}. Install every extra first: make lint", file=sys.stderr)
        return 1
    if arguments == ["--write"]:
        path.write_text(HEADER + "".join(f"{name}=={required[name]}\n" for name in sorted(required)), encoding="utf-8")
        return 0
    found = differences(required, pinned(path))
    for sentence in found:
        print(f"constraints.txt: {sentence}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
