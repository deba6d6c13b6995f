from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.cli.adding import chosen_settings
from indexer.cli.running import Lines, tell
from indexer.datatypes import FileReport, RunReport, Status
from indexer.ingest.events import Stages
from indexer.machine import Cores
from indexer.settings import load_settings
from tests.cli.conftest import Longdoc
from tests.ingest.conftest import prose

SLOW = """
import time
from tests.fakes import FakeEncoder
quick = FakeEncoder.encode_documents
def slow(self, texts):
    time.sleep(0.2)
    return quick(self, texts)
FakeEncoder.encode_documents = slow
"""

WATCHER = """
import sys
import indexer.encode
from tests.fakes import FakeEncoder
encoder = FakeEncoder()
indexer.encode.load_encoder = indexer.encode.describe_encoder = lambda *_, **__: encoder
from indexer.cli import main
sys.exit(main(sys.argv[1:]))
"""

KEYS = {
    "added",
    "updated",
    "unchanged",
    "failed",
    "removed",
    "documents",
    "tokens",
    "seconds",
    "tokens_per_second",
    "peak_rss_mb",
}
DOCUMENT_KEYS = {"path", "status", "reason", "pages", "chars", "chunks", "coverage", "seconds"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    (path / "contract.txt").write_text("The buyer pays the seller. Late payment bears interest.\n\nThe end.")
    (path / "合同.md").write_text("# 合同\n\n买方应当按时付款。逾期付款应支付利息。")
    return path


def test_add_prints_the_contract_as_json(longdoc: Longdoc, folder: Path) -> None:
    first = longdoc("add", folder, "--json")
    assert first.code == 0
    assert set(first.json) == KEYS
    assert all(set(document) == DOCUMENT_KEYS for document in first.json["documents"])
    assert (first.json["added"], first.json["failed"]) == (2, 0)
    assert {document["status"] for document in first.json["documents"]} == {"indexed"}
    second = longdoc("add", folder, "--json")
    assert (second.code, second.json["unchanged"], second.json["added"]) == (0, 2, 0)


def test_add_tells_a_person_what_happened(longdoc: Longdoc, folder: Path) -> None:
    (folder / "bad.pdf").write_bytes(b"%PDF-1.7\nnothing")
    outcome = longdoc("add", folder)
    assert outcome.code == 3
    assert f"{folder}/bad.pdf: " in outcome.out
    assert "3 files: 2 indexed, 1 failed" in outcome.out
    assert "Traceback" not in outcome.out + outcome.err


def test_sync_takes_up_what_changed(longdoc: Longdoc, folder: Path) -> None:
    longdoc("add", folder)
    (folder / "contract.txt").write_text("Another text altogether.")
    (folder / "合同.md").unlink()
    (folder / "new.txt").write_text("A new text.")
    outcome = longdoc("sync", "--json")
    assert (outcome.json["updated"], outcome.json["added"], outcome.json["removed"]) == (1, 1, 1)
    removed = [document["path"] for document in outcome.json["documents"] if document["status"] == "removed"]
    assert removed == [str(folder / "合同.md")]


def test_a_path_that_is_not_there_is_one_sentence(longdoc: Longdoc, tmp_path: Path) -> None:
    outcome = longdoc("add", tmp_path / "nowhere")
    assert outcome.code == 1
    assert outcome.err == f"longdoc: There is no file or folder {tmp_path}/nowhere.\n"


def test_sync_without_a_library_says_how_to_begin(longdoc: Longdoc) -> None:
    outcome = longdoc("sync")
    assert outcome.code == 1
    assert "`longdoc add FOLDER`" in outcome.err


def test_wrong_usage_is_exit_code_two(longdoc: Longdoc, folder: Path) -> None:
    assert longdoc("add").code == 2
    assert longdoc("add", folder, "--ocr", "perhaps").code == 2
    assert longdoc("add", folder, "--threads", "-1").code == 2
    assert longdoc("ad", folder).code == 2


def test_quiet_prints_nothing_and_json_is_all_that_stdout_has(longdoc: Longdoc, folder: Path) -> None:
    outcome = longdoc("--quiet", "add", folder)
    assert (outcome.out, outcome.err, outcome.code) == ("", "", 0)


def test_log_records_are_one_json_document_a_line(longdoc: Longdoc, folder: Path) -> None:
    outcome = longdoc("--log-json", "add", folder, "--json")
    records = [json.loads(line) for line in outcome.err.splitlines()]
    files = [record for record in records if record["event"] == "file"]
    assert {Path(record["path"]).name for record in files} == {"contract.txt", "合同.md"}
    for record in files:
        assert record["status"] == "indexed"
        assert record["tokens"] > 0
        assert record["rss_mb"] > 0
        assert set(record["stages"]) == {"read", "chunk", "encode", "store"}
    assert records[-1]["event"] == "done"
    assert records[-1]["added"] == 2
    assert outcome.json["added"] == 2


def test_a_password_is_tried_and_never_kept(longdoc: Longdoc, folder: Path, tmp_path: Path) -> None:
    passwords = tmp_path / "passwords.txt"
    passwords.write_text("hunter2-from-file\n")
    longdoc("--log-json", "add", folder, "--password", "hunter2-argument", "--password-file", passwords)
    for path in (tmp_path / "library").rglob("*"):
        if path.is_file():
            assert b"hunter2" not in path.read_bytes()


def test_failed_files_are_looked_at_again_only_when_asked(longdoc: Longdoc, folder: Path) -> None:
    (folder / "bad.pdf").write_bytes(b"%PDF-1.7\nnothing")
    assert longdoc("add", folder).code == 3
    again = longdoc("add", folder, "--json")
    assert (again.code, again.json["unchanged"]) == (0, 3)
    bad = next(document for document in again.json["documents"] if document["path"].endswith("bad.pdf"))
    assert bad["reason"].startswith(Status.FAILED.value)
    retried = longdoc("add", folder, "--retry", "--json")
    assert (retried.code, retried.json["failed"]) == (3, 1)


def test_a_sample_tells_what_the_whole_would_cost(longdoc: Longdoc, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}.txt").write_text(f"Number {number} says this. " * 30)
    outcome = longdoc("add", folder, "--sample", "4", "--json")
    assert outcome.json["added"] == 4
    estimate = outcome.json["estimate"]
    assert estimate["files"] == 20
    assert estimate["tokens"] == pytest.approx(outcome.json["tokens"] * 5, rel=0.1)
    assert "All 20 files" in longdoc("add", folder, "--sample", "4").out
    whole = longdoc("add", folder, "--json")
    assert (whole.json["added"], whole.json["unchanged"]) == (16, 4)


def test_a_library_keeps_to_the_pooling_it_was_built_with(longdoc: Longdoc, folder: Path) -> None:
    assert longdoc("add", folder, "--pooling", "max").code == 0
    refused = longdoc("add", folder, "--pooling", "mean")
    assert refused.code == 1
    assert "longdoc reindex" in refused.err
    assert longdoc("add", folder).code == 0


def test_add_says_what_of_a_new_document_was_there_already(longdoc: Longdoc, tmp_path: Path) -> None:
    folder = tmp_path / "versions"
    folder.mkdir()
    text = "\n\n".join(prose(number, 1) for number in range(12))
    (folder / "first.txt").write_text(text)
    assert all("overlap" not in document for document in longdoc("add", folder, "--json").json["documents"])
    (folder / "second.txt").write_text(text + "\n\nA closing sentence of its own.")
    outcome = longdoc("add", folder, "--json")
    (told,) = [document["overlap"] for document in outcome.json["documents"] if "overlap" in document]
    assert told["share"] > 0.9
    (folder / "third.txt").write_text(text + "\n\nQuite another closing sentence.")
    assert f"{folder}/third.txt: " in longdoc("add", folder).out


def test_ctrl_c_ends_after_the_batch_and_says_how_to_go_on(tmp_path: Path, folder: Path) -> None:
    (folder / "long.txt").write_text(prose(1, 600))
    environment = os.environ | {"LONGDOC_LIBRARY": str(tmp_path / "library"), "LONGDOC_CACHE": str(tmp_path / "cache")}
    child = subprocess.Popen(
        [sys.executable, "-c", SLOW + WATCHER, "--log-json", "add", str(folder)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr is not None
    while json.loads(child.stderr.readline()).get("tokens", 0) < 500:
        pass
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 1
    assert "Traceback" not in errors
    *_, done, sentence = errors.splitlines()
    assert json.loads(done)["stopped"] is True
    assert sentence == f"Stopped. What is finished is kept; run `longdoc add {folder}` to go on where it stopped."


def test_watch_follows_a_folder_until_it_is_told_to_stop(tmp_path: Path, folder: Path) -> None:
    environment = os.environ | {"LONGDOC_LIBRARY": str(tmp_path / "library"), "LONGDOC_CACHE": str(tmp_path / "cache")}
    child = subprocess.Popen(
        [sys.executable, "-c", WATCHER, "watch", str(folder), "--settle", "0.2", "--json"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    first = json.loads(child.stdout.readline())
    assert first["added"] == 2
    (folder / "new.txt").write_text("A new text.")
    second = json.loads(child.stdout.readline())
    assert [document["path"] for document in second["documents"] if document["status"] == "indexed"] == [
        str(folder / "new.txt")
    ]
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=30)
    assert (child.returncode, errors) == (0, "")


def test_a_long_status_stands_apart_from_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    report = FileReport(str(tmp_path / "film.mp4"), Status.UNSUPPORTED, "the content is a film")
    Lines(quiet=False).file(report, Stages())
    assert capsys.readouterr().err.endswith("  unsupported  film.mp4: the content is a film\n")


def test_options_overrule_the_settings() -> None:
    chosen = {"precision": "bfloat16", "threads": 3, "batch_tokens": 512, "memory": "1GB", "nice": False}
    settings = chosen_settings(load_settings(), chosen)
    assert (settings.precision, settings.threads, settings.batch_tokens) == ("bfloat16", 3, 512)
    assert settings.memory == "1GB"
    assert chosen_settings(load_settings(), {"nice": False}) == load_settings()


def test_nice_keeps_a_core_free_and_goes_behind_others(
    longdoc: Longdoc, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for cores, threads in (
        (Cores(physical=4, logical=4, allowed=4, quota=None), 3),
        (Cores(physical=4, logical=8, allowed=8, quota=None), 3),  # two of its hardware threads make one core
        (Cores(physical=8, logical=8, allowed=8, quota=2.0), 1),
        (Cores(physical=4, logical=4, allowed=1, quota=None), 1),
    ):
        monkeypatch.setattr("indexer.cli.adding.read_cores", lambda cores=cores: cores)
        assert chosen_settings(load_settings(), {"nice": True}).threads == threads
    assert chosen_settings(load_settings(), {"nice": True, "threads": 2}).threads == 2
    lowered: list[int] = []
    monkeypatch.setattr("indexer.cli.adding.os.nice", lowered.append)
    assert longdoc("add", folder, "--nice").code == 0
    assert lowered == [10]


def test_memory_that_is_too_little_is_told_and_no_size_is_refused(longdoc: Longdoc, folder: Path) -> None:
    told = longdoc("add", folder, "--memory", "1MB")
    assert told.code == 0
    assert re.search(r"took \d+ MB, more than the 1 MB of --memory", told.err)
    assert "--memory" not in longdoc("add", folder, "--memory", "900GB").err
    assert longdoc("add", folder, "--memory", "much").code == 1


def test_a_run_stopped_before_anything_was_finished_had_something_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    report = RunReport(
        files=(), added=0, updated=0, unchanged=0, failed=0, removed=0, tokens=0, encoded_tokens=90, seconds=9.0,
        peak_rss_mb=100.0, warnings=(), stopped=True,
    )  # fmt: skip
    tell(report, {}, as_json=False, quiet=False, again="longdoc sync")
    assert capsys.readouterr().out.startswith("0 files: none finished yet; 9 s; 90 tokens encoded")
    tell(replace(report, stopped=False), {}, as_json=False, quiet=False, again="longdoc sync")
    assert capsys.readouterr().out.startswith("0 files: nothing to do; 9 s")
