"""Whether real awkward files are found: `python -m tests.benchmarks.awkward [--real] [FOLDER]`.

Adds every file of the collection (`files` in the evaluation data), gives each the status that its manifest allows, and
asks `longdoc search`'s own function for every sentence that the manifests say a file contains. A sentence counts as
found when its file is among the first 10 hits. Vectors come from the tests' encoder, and with --real from the default
one; the reading, the words and the fusion are real either way.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from indexer.datatypes import Mode, Status
from indexer.ingest import AddOptions, add
from indexer.library import Library
from indexer.parse import ReadOptions, sandbox
from indexer.search import SearchOptions, search_library
from indexer.settings import Settings
from tests.benchmarks.material import evaluation_folder
from tests.fakes import FakeEncoder

READ = (Status.INDEXED, Status.PARTIAL)
NO_TEXT = (Status.NEEDS_OCR, Status.EMPTY, Status.PARTIAL)
BROKEN = (Status.FAILED, Status.EMPTY, Status.PARTIAL, Status.INDEXED)
SEARCHED = (Mode.HYBRID, Mode.LEXICAL)
K = 10


@dataclass(frozen=True)
class Case:
    """A file of the collection and what its manifest says of it."""

    path: Path
    awkward: str
    expected: str
    password: str
    must_contain: str


@dataclass
class Findings:
    """What became of the files: statuses, what is wrong, and at which rank each sentence's file stood by mode."""

    statuses: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    ranks: dict[Mode, dict[str, int | None]] = field(default_factory=dict)
    largest_reader: int = 0

    def missed(self, mode: Mode) -> list[str]:
        """The sentences whose file was not among the hits."""
        return [name for name, rank in self.ranks[mode].items() if rank is None]


def cases(folder: Path) -> Iterator[Case]:
    """Every file that a manifest names."""
    for manifest in sorted(folder.glob("*/manifest.tsv")):
        with manifest.open(encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                texts = (row[key] or "" for key in ("awkward", "expected_from_source", "password", "must_contain"))
                yield Case(manifest.parent / row["file"], *texts)


def allowed(case: Case) -> tuple[Status, ...]:
    """The statuses that what the manifest says of a file allows."""
    told = f"{case.awkward} {case.expected}"
    if "must be reported as locked" in told:
        return (Status.ENCRYPTED,)
    if case.must_contain:
        return READ
    if "scan" in told or "image only" in told:
        return NO_TEXT
    if "blank" in told or "no text at all" in told:
        return (Status.EMPTY,)
    if any(word in told for word in ("fail", "fuzzed", "broken", "invalid", "damaged", "loop", "garbage")):
        return (*BROKEN, Status.NEEDS_OCR)
    if case.path.suffix == ".pdf":
        return (*READ, *NO_TEXT, Status.FAILED) if "Brotli" in told else (*READ, *NO_TEXT)
    return READ


def examine(folder: Path, work: Path, *, real: bool = False) -> Findings:
    """Add the collection to a library in ``work`` and search for its sentences."""
    known = list(cases(folder))
    passwords = tuple(dict.fromkeys(case.password for case in known if case.password))
    settings = Settings(library=work / "library", cache=Settings().cache if real else work / "cache")
    encoder = None if real else FakeEncoder()
    findings = Findings()
    with Library.open(settings.library, settings, create=True, write=True, encoder=encoder) as library:
        add(library, [str(folder)], AddOptions(ReadOptions(passwords=passwords, ocr="never", seconds=120)))
        workers = [psutil.Process(worker.pid).memory_info().rss for worker in sandbox.POOL._idle]
        findings.largest_reader = max([*workers, 0])
        for case in known:
            document = library.store.find_by_path(str(case.path))
            status = document.status if document is not None else None
            findings.statuses[str(status)] += 1
            if document is None or status not in allowed(case) or status is not Status.INDEXED and not document.reason:
                findings.wrong.append(f"{case.path.name}: {status} ({document.reason if document else 'not there'})")
        for mode in SEARCHED:
            findings.ranks[mode] = {
                f"{case.path.name}: {case.must_contain}": _rank(library, case, mode)
                for case in known
                if case.must_contain
            }
    return findings


def _rank(library: Library, case: Case, mode: Mode) -> int | None:
    result = search_library(library, case.must_contain, SearchOptions(k=K, mode=mode))
    for hit in result.hits:
        copies = (path for copy in hit.copies for path in copy.paths)
        if str(case.path) in (*hit.document.paths, *copies):
            return hit.rank
    return None


def main() -> None:
    """Print what was found."""
    folders = [Path(name) for name in sys.argv[1:] if not name.startswith("--")]
    evaluation = evaluation_folder()
    if not folders and evaluation is None:
        sys.exit("There is no collection of awkward files: give its folder, or set LONGDOC_EVAL.")
    folder = folders[0] if folders else (evaluation or Path()) / "files"
    with tempfile.TemporaryDirectory() as work:
        findings = examine(folder, Path(work), real="--real" in sys.argv)
    total = findings.statuses.total()
    print(f"{total} files: {', '.join(f'{count} {name}' for name, count in findings.statuses.most_common())}")
    print(f"right status: {total - len(findings.wrong)} of {total}; reader {findings.largest_reader >> 20} MB")
    print(*findings.wrong, sep="\n")
    for mode, ranks in findings.ranks.items():
        first = sum(rank == 1 for rank in ranks.values())
        found = len(ranks) - len(findings.missed(mode))
        print(f"{mode}: {found} of {len(ranks)} sentences found within {K}, {first} of them first")
        print(*(f"  missed: {name}" for name in findings.missed(mode)), sep="\n")


if __name__ == "__main__":
    main()
