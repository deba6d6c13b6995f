"""A run that is killed for real, in the middle of one long document."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.datatypes import RunReport, Status, text_hash
from indexer.library import Library
from tests.fakes import FakeEncoder
from tests.ingest.conftest import prose

CHILD = """
import sys, time
from dataclasses import replace
from pathlib import Path
from indexer.datatypes import text_hash
from indexer.ingest import AddOptions, add
from indexer.library import Library
from indexer.parse import ReadOptions
from indexer.settings import Settings
from tests.fakes import FakeEncoder

root, log = Path(sys.argv[1]), open(sys.argv[2], "w")

class Slow(FakeEncoder):
    def encode_documents(self, texts):
        time.sleep(0.3)
        rows = super().encode_documents(texts)
        log.write("".join(text_hash(text).hex() + "\\n" for text in texts))
        log.flush()
        return rows

settings = Settings(library=root / "library", cache=root / "cache")
with Library.open(settings.library, settings, create=True, write=True, encoder=Slow()) as library:
    add(library, [str(root / "folder")], AddOptions(ReadOptions(sandbox=False)))
"""


def kill_after(tmp_path: Path, texts: int) -> set[str]:
    """Start a run, kill it once it has encoded so many texts, and return the hashes of those."""
    log = tmp_path / "encoded.log"
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path), str(log)], cwd=Path(__file__).parents[2])
    deadline = time.monotonic() + 300
    try:
        while not log.exists() or log.read_text().count("\n") < texts:
            assert child.poll() is None, "the run ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    return {line for line in log.read_text().splitlines() if len(line) == 32}


@pytest.mark.parametrize("texts", [8, 64])
def test_a_killed_run_is_taken_up_at_the_last_stored_batch(
    tmp_path: Path, folder: Path, texts: int, request: pytest.FixtureRequest
) -> None:
    (folder / "huge.txt").write_text(prose(3, 600))
    before = kill_after(tmp_path, texts)
    library: Library = request.getfixturevalue("library")
    run: Callable[..., RunReport] = request.getfixturevalue("run")
    encoder: FakeEncoder = request.getfixturevalue("encoder")
    assert list(library.store.documents()) == []
    report = run()
    assert [file.status for file in report.files] == [Status.INDEXED]
    repeated = before & {text_hash(text).hex() for text in encoder.encoded}
    assert len(before) >= texts
    assert len(repeated) <= encoder.batch
    (document,) = library.store.documents()
    assert document.chunk_count == report.files[0].chunks
    assert len(encoder.encoded) + len(before) - len(repeated) == document.chunk_count
