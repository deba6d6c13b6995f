"""Breaks each promise of the library on purpose, in a copy of the tree, and sees that a test fails.

    python -m tests.benchmarks.broken [--only NAME ...]

A promise whose test passes all the same is printed as NOT NOTICED, and so is a break that no longer fits the code.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Break:
    """One line of the program changed, and the test that must fail then."""

    promise: str
    file: str
    old: str
    new: str
    test: str


BREAKS = {
    "half visible": Break(
        "a document is seen whole or not at all (5)",
        "store/changes.py",
        "INSERT INTO documents (sha256, bytes, added) VALUES (?, ?, ?)",
        "INSERT INTO documents (visible, sha256, bytes, added) VALUES (1, ?, ?, ?)",
        "tests/store/test_writing.py -k seen_whole",
    ),
    "backup in place": Break(
        "a backup appears complete or not at all (5, 10)",
        "files.py",
        "        yield Path(name)\n",
        "        path.touch()\n        yield Path(name)\n",
        "tests/test_files.py tests/test_promises.py -k 'full_disk_cuts or leaves_what'",
    ),
    "migration in pieces": Break(
        "a migration is done or not begun (5)",
        "store/schema.py",
        '        migrations(name=f"{number:04d}")(apply)',
        '        migrations(name=f"{number:04d}", transactional=False)(apply)',
        "tests/store/test_schema.py",
    ),
    "full disk unnamed": Break(
        "a full disk is said (6)",
        "store/connection.py",
        'if name.startswith("SQLITE_FULL")',
        'if name.startswith("SQLITE_NEVER")',
        "tests/store/test_connection.py tests/test_promises.py -k 'full_disk_is or sqlite_raises'",
    ),
    "busy not waited for": Break(
        "a busy file is an error in words (6)",
        "store/connection.py",
        'if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))',
        'if name.startswith(("SQLITE_NEVER",))',
        "tests/test_promises.py -k busy",
    ),
    "checksum unread": Break(
        "damage to the index is seen before FAISS reads it (7, 12)",
        "sealed.py",
        "    if hashlib.blake2b(body, digest_size=_DIGEST).digest() != content[len(_MAGIC) : len(_MAGIC) + _DIGEST]:\n",
        "    if False:\n",
        "tests/test_vectors.py tests/test_sealed.py -k 'damage or flipped'",
    ),
    "records unchecked": Break(
        "damage to the embeddings beside the index is seen (7)",
        "rowfile.py",
        "self._checksums(ids, records) == records[:, -1]",
        "records.any(axis=1)",
        "tests/test_rowfile.py",
    ),
    "search in pieces": Break(
        "a search sees one state of the library (8)",
        "library.py",
        "        with self.store.snapshot():  # what a writer removes meanwhile is there until the search is done\n",
        "        if True:\n",
        "tests/test_library.py -k during_a_search",
    ),
    "damaged index kept": Break(
        "a damaged index is made anew (7)",
        "library.py",
        "        except (DamagedError, OSError) as error:\n",
        "        except OSError as error:\n",
        "tests/test_library.py -k damaged",
    ),
    "texts unchecked": Break(
        "verify names the documents that are damaged (7, 11)",
        "store/upkeep.py",
        'if not is_key_of(row["text_hash"], text[row["start"] : row["end"]], windowed=recipe.window > 0):',
        "if False:",
        "tests/upkeep/test_verify.py -k damage",
    ),
    "norms unchecked": Break(
        "verify looks at embeddings (11)",
        "store/upkeep.py",
        "if not abs(length - 1) < NORM_TOLERANCE:",
        "if False:",
        "tests/upkeep/test_verify.py -k damage",
    ),
    "words unchecked": Break(
        "verify looks at the full-text table (11)",
        "store/upkeep.py",
        "if missing := len(np.setdiff1d(chunks, rows)):",
        "if missing := 0:",
        "tests/upkeep/test_verify.py -k derived",
    ),
    "no lock": Break(
        "a second writer is told who holds the lock (8)",
        "lock.py",
        "        lock.acquire(timeout=wait, poll_interval=0.1)\n",
        "        pass\n",
        "tests/test_library.py -k second_writer",
    ),
    "removals unlogged": Break(
        "readers follow what a writer removes (8)",
        "store/changes.py",
        '    if ids:\n        connection.execute(\n            "INSERT INTO removals',
        '    if not ids:\n        connection.execute(\n            "INSERT INTO removals',
        "tests/test_library.py -k notices",
    ),
    "generation kept": Break(
        "readers notice new documents (8)",
        "store/changes.py",
        "SET value = CAST(value AS INTEGER) + 1 WHERE",
        "SET value = CAST(value AS INTEGER) WHERE",
        "tests/test_library.py -k notices",
    ),
    "ids again": Break(
        "an id is never used again (8)",
        "store/schema.py",
        "CREATE TABLE chunks (\n  id INTEGER PRIMARY KEY AUTOINCREMENT,",
        "CREATE TABLE chunks (\n  id INTEGER PRIMARY KEY,",
        "tests/store/test_writing.py -k never_used",
    ),
    "recipe ignored": Break(
        "other settings are refused with the command that reindexes (9)",
        "recipes.py",
        "        if asked != built:\n",
        "        if False:\n",
        "tests/test_recipes.py -k refused",
    ),
    "gate ignored": Break(
        "the gate keeps the old recipe (9)",
        "upkeep/reindex.py",
        "        if after < before:\n",
        "        if False:\n",
        "tests/upkeep/test_reindex.py -k gate",
    ),
    "swap too soon": Break(
        "the old recipe answers until the new one is complete (9)",
        "upkeep/reindex.py",
        "    pending = store.pending_documents(recipe_id)\n",
        "    pending = store.pending_documents(recipe_id)\n    with store._connections.writing() as connection:\n"
        "        connection.execute(\"UPDATE recipes SET state = 'previous' WHERE state = 'active'\")\n"
        "        connection.execute(\"UPDATE recipes SET state = 'active' WHERE id = ?\", [recipe_id])\n",
        "tests/upkeep/test_reindex.py -k all_of_it",
    ),
    "identity kept": Break(
        "a restored library is not searched by an index of before (10)",
        "upkeep/backup.py",
        "            store.renew_identity()\n",
        "",
        "tests/upkeep/test_backup.py -k restored_and_added_to",
    ),
    "backup unchecked": Break(
        "a backup is checked before it replaces anything (10)",
        "upkeep/backup.py",
        "        _copy(path, temporary)\n        check_copy(temporary)\n",
        "        _copy(path, temporary)\n",
        "tests/upkeep/test_backup.py -k damaged_backup",
    ),
    "export unchecked": Break(
        "a changed export is refused (10)",
        "upkeep/exchange.py",
        "    _check_parts(folder, manifest)\n",
        "",
        "tests/upkeep/test_exchange.py -k changed",
    ),
    "open to all": Break(
        "the library's files are private (12)",
        "files.py",
        "    os.close(descriptor)\n",
        "    os.close(descriptor)\n    os.chmod(name, 0o644)\n",
        "tests/store/test_keep.py tests/test_files.py -k private",
    ),
}


def is_noticed(one: Break) -> bool:
    """Whether the test fails in a copy of the tree that has the break."""
    with tempfile.TemporaryDirectory(prefix="longdoc-broken-") as place:
        for part in ("indexer", "app", "tests", "pyproject.toml"):
            source = ROOT / part
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, Path(place) / part)
        file = Path(place) / "indexer" / one.file
        text = file.read_text(encoding="utf-8")
        if text.count(one.old) != 1:
            print(f"  the break no longer fits {one.file}")
            return False
        file.write_text(text.replace(one.old, one.new), encoding="utf-8")
        return run_tests(Path(place), one.test) == 1


def run_tests(place: Path, tests: str) -> int:
    """Run tests (paths, and after ``-k`` an expression) in a tree; pytest's exit code, 1 when a test fails."""
    paths, _, wanted = tests.partition(" -k ")
    command = [sys.executable, "-m", "pytest", "-q", "-x", *paths.split()]
    if wanted:
        command += ["-k", wanted.strip("'")]
    environment = os.environ | {"PYTHONPATH": str(place)}
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):  # nothing was collected, or worse
        print(done.stdout[-500:], done.stderr[-500:])
    return done.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(BREAKS), default=list(BREAKS))
    missed = 0
    for name in parser.parse_args().only:
        if run_tests(ROOT, BREAKS[name].test) != 0:
            print(f"the test of {name!r} fails without a break too")
            missed += 1
            continue
        noticed = is_noticed(BREAKS[name])
        missed += not noticed
        print(f"{'noticed    ' if noticed else 'NOT NOTICED'}  {name}: {BREAKS[name].promise}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
