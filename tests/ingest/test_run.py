from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from indexer.datatypes import FileReport, RunReport, Status, text_hash
from indexer.errors import LibraryError, LongdocError
from indexer.ingest import AddOptions, Listener, Progress, add, sync
from indexer.library import Library
from indexer.parse import ReadOptions, read
from tests.benchmarks import again
from tests.fakes import FakeEncoder
from tests.ingest.conftest import OPTIONS, prose

Run = Callable[..., RunReport]


def statuses(report: RunReport) -> dict[str, Status]:
    return {Path(file.path).name: file.status for file in report.files}


def test_every_file_gets_a_status_and_one_bad_file_costs_only_itself(run: Run, folder: Path, library: Library) -> None:
    (folder / "a.txt").write_text(prose(1, 20))
    (folder / "b.md").write_text("# Title\n\n" + prose(2, 20))
    (folder / "bad.pdf").write_bytes(b"%PDF-1.7\nnothing more")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "picture.xyz").write_bytes(bytes(range(256)) * 20)
    report = run()
    found = statuses(report)
    assert found["a.txt"] == found["b.md"] == Status.INDEXED
    assert found["empty.txt"] == Status.EMPTY
    assert found["bad.pdf"] == Status.FAILED
    assert found["picture.xyz"] == Status.UNSUPPORTED
    assert (report.added, report.failed, report.unchanged) == (3, 2, 0)
    assert {Path(document.paths[0]).name: document.status for document in library.store.documents()} == found
    bad = next(file for file in report.files if file.path.endswith("bad.pdf"))
    assert bad.reason


def test_what_is_stored_is_what_was_read(run: Run, folder: Path, library: Library) -> None:
    text = prose(3, 60)
    (folder / "a.txt").write_text(text)
    (file,) = run().files
    assert file.document_id is not None
    chunks = list(library.store.document_chunks(file.document_id))
    assert "".join(one.chunk.text for one in chunks).strip() == text
    assert [one.chunk.position for one in chunks] == list(range(len(chunks)))
    rows = library.store.chunk_embeddings([one.id for one in chunks])
    expected = FakeEncoder().encode_documents([one.chunk.text for one in chunks])
    np.testing.assert_allclose(rows, expected, atol=2e-3)
    weights = np.array([one.chunk.tokens for one in chunks], np.float32)
    mean = weights @ expected
    ids, vectors = library.store.document_vectors()
    assert ids.tolist() == [file.document_id]
    np.testing.assert_allclose(vectors[0], mean / np.linalg.norm(mean), atol=2e-3)
    assert file.tokens == sum(weights)
    assert file.chars == len("".join(one.chunk.text for one in chunks))


def test_a_second_run_encodes_nothing(run: Run, folder: Path, encoder: FakeEncoder) -> None:
    for number in range(5):
        (folder / f"{number}.txt").write_text(prose(number, 5))
    run()
    encoder.encoded.clear()
    report = run()
    assert encoder.encoded == []
    assert (report.unchanged, report.added, report.encoded_tokens) == (5, 0, 0)
    assert report.tokens_per_second == 0


def test_touching_a_file_changes_nothing_and_is_looked_into_once(run: Run, folder: Path, encoder: FakeEncoder) -> None:
    (folder / "a.txt").write_text(prose(1, 5))
    run()
    encoder.encoded.clear()
    os.utime(folder / "a.txt", (1, 1))
    assert statuses(run()) == {"a.txt": Status.UNCHANGED}
    assert encoder.encoded == []


def test_a_renamed_file_keeps_its_document(run: Run, folder: Path, library: Library, encoder: FakeEncoder) -> None:
    (folder / "a.txt").write_text(prose(1, 5))
    before = run().files[0].document_id
    encoder.encoded.clear()
    (folder / "a.txt").rename(folder / "b.txt")
    report = run()
    assert statuses(report) == {"b.txt": Status.UNCHANGED}
    assert report.removed == 0
    (document,) = library.store.documents()
    assert (document.id, document.paths) == (before, (str(folder / "b.txt"),))
    assert encoder.encoded == []


def test_copies_are_one_document_encoded_once(run: Run, folder: Path, library: Library, encoder: FakeEncoder) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        (folder / name).write_text(prose(1, 5))
    report = run()
    assert len(encoder.encoded) == len(set(encoder.encoded))
    assert {file.document_id for file in report.files} == {1}
    (document,) = library.store.documents()
    assert [Path(path).name for path in document.paths] == ["a.txt", "b.txt", "c.txt"]
    (folder / "d.txt").write_text(prose(1, 5))
    late = next(file for file in run().files if file.path.endswith("d.txt"))
    assert late.status == Status.UNCHANGED
    assert late.reason == f"the same content as {folder / 'a.txt'}"


def test_a_changed_file_is_swapped_in_whole(run: Run, folder: Path, library: Library) -> None:
    (folder / "a.txt").write_text("The old text of the contract.")
    run()
    (folder / "a.txt").write_text("The new text of the contract, which is longer.")
    report = run()
    assert (report.updated, report.added) == (1, 0)
    (document,) = library.store.documents()
    (chunk,) = library.store.document_chunks(document.id)
    assert "new text" in chunk.chunk.text


def test_one_changed_copy_leaves_the_other_as_it_is(run: Run, folder: Path, library: Library) -> None:
    (folder / "a.txt").write_text(prose(1, 3))
    (folder / "b.txt").write_text(prose(1, 3))
    run()
    (folder / "b.txt").write_text(prose(2, 3))
    run()
    assert sorted(document.paths for document in library.store.documents()) == [
        (str(folder / "a.txt"),),
        (str(folder / "b.txt"),),
    ]


def test_a_paragraph_changed_in_a_long_document_encodes_little(run: Run, folder: Path, encoder: FakeEncoder) -> None:
    paragraphs = prose(7, 3_000).split("\n\n")
    (folder / "long.txt").write_text("\n\n".join(paragraphs))
    whole = run()
    paragraphs[1_000] = "This paragraph was changed by hand. It is quite another now."
    (folder / "long.txt").write_text("\n\n".join(paragraphs))
    changed = run()
    assert changed.updated == 1
    assert 0 < changed.encoded_tokens < 0.05 * whole.encoded_tokens


def test_a_paragraph_changed_in_a_pdf_encodes_little() -> None:
    (row,) = again.change(60, [("as long", lambda paragraph: " ".join(reversed(paragraph.split())))])
    assert row["tokens"] > 30_000
    assert 0 < row["share"] < 0.02


def test_repeated_text_is_encoded_once(run: Run, folder: Path, encoder: FakeEncoder) -> None:
    paragraph = prose(1, 1)
    (folder / "a.txt").write_text("\n\n".join([paragraph] * 2_000))
    run()
    hashes = [text_hash(text) for text in encoder.encoded]
    assert len(hashes) == len(set(hashes))


def test_vanished_files_are_removed(run: Run, folder: Path, library: Library) -> None:
    (folder / "a.txt").write_text(prose(1, 3))
    (folder / "b.txt").write_text(prose(2, 3))
    run()
    (folder / "a.txt").unlink()
    report = run()
    assert report.removed == 1
    assert statuses(report) == {"a.txt": Status.REMOVED, "b.txt": Status.UNCHANGED}
    assert len(list(library.store.documents())) == 1


def test_a_source_that_is_absent_or_suddenly_empty_keeps_its_documents(
    run: Run, folder: Path, library: Library, tmp_path: Path
) -> None:
    (folder / "a.txt").write_text(prose(1, 3))
    run()
    folder.rename(tmp_path / "unmounted")
    report = sync(library, OPTIONS)
    assert report.removed == 0
    assert "is not there" in report.warnings[0]
    folder.mkdir()
    report = sync(library, OPTIONS)
    assert report.removed == 0
    assert "is empty now" in report.warnings[0]
    assert len(list(library.store.documents())) == 1
    with pytest.raises(LongdocError, match="no file or folder"):
        run(tmp_path / "nowhere")


def test_sync_goes_back_to_every_source(run: Run, folder: Path, library: Library, tmp_path: Path) -> None:
    single = tmp_path / "single.txt"
    single.write_text(prose(9, 3))
    run(folder / ".." / "single.txt")
    (folder / "a.txt").write_text(prose(1, 3))
    run()
    (folder / "b.txt").write_text(prose(2, 3))
    single.write_text(prose(10, 3))
    report = sync(library, OPTIONS)
    assert (report.added, report.updated, report.unchanged) == (1, 1, 1)
    assert [source.path for source in library.store.sources()] == [str(folder), str(single)]


def test_a_failed_file_is_left_alone_until_it_is_asked_for(run: Run, folder: Path) -> None:
    (folder / "bad.pdf").write_bytes(b"%PDF-1.7\nnothing more")
    assert statuses(run()) == {"bad.pdf": Status.FAILED}
    second = run()
    assert statuses(second) == {"bad.pdf": Status.UNCHANGED}
    assert second.files[0].reason is not None
    assert second.files[0].reason.startswith("failed: ")
    assert statuses(run(again=frozenset({Status.FAILED}))) == {"bad.pdf": Status.FAILED}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_fails_and_is_tried_again(run: Run, folder: Path) -> None:
    (folder / "a.txt").write_text(prose(1, 3))
    (folder / "a.txt").chmod(0)
    assert statuses(run()) == {"a.txt": Status.FAILED}
    (folder / "a.txt").chmod(0o600)
    assert statuses(run()) == {"a.txt": Status.INDEXED}


class TouchingReader:
    """Changes the file while it is read, the first time."""

    def __init__(self, path: Path) -> None:
        self.path, self.changed = path, False

    def __call__(self, path: Path, options: ReadOptions):  # type: ignore[no-untyped-def]  # as indexer.parse.read
        if not self.changed and path == self.path:
            self.changed = True
            path.write_text(prose(5, 3))
        return read(path, options)


def test_a_file_that_changes_while_it_is_read_is_taken_up_by_the_next_run(library: Library, folder: Path) -> None:
    path = folder / "a.txt"
    path.write_text(prose(4, 3))
    os.utime(path, (1, 1))
    (folder / "b.txt").write_text(prose(6, 3))
    report = add(library, [str(folder)], OPTIONS, read=TouchingReader(path))
    assert statuses(report) == {"a.txt": Status.FAILED, "b.txt": Status.INDEXED}
    assert "changed while" in (report.files[0].reason or "")
    again = add(library, [str(folder)], OPTIONS)
    assert statuses(again) == {"a.txt": Status.INDEXED, "b.txt": Status.UNCHANGED}
    assert len(list(library.store.documents())) == 2


def test_a_file_that_vanishes_before_it_is_read_is_reported_and_not_kept(library: Library, folder: Path) -> None:
    (folder / "a.txt").write_text(prose(4, 3))
    (folder / "b.txt").write_text(prose(5, 3))

    def reading(path: Path, options: ReadOptions):  # type: ignore[no-untyped-def]  # as indexer.parse.read
        (folder / "b.txt").unlink(missing_ok=True)
        return read(path, options)

    report = add(library, [str(folder)], OPTIONS, read=reading)
    assert statuses(report) == {"a.txt": Status.INDEXED, "b.txt": Status.FAILED}
    assert [Path(document.paths[0]).name for document in library.store.documents()] == ["a.txt"]


def test_a_fault_of_ours_in_one_document_does_not_stop_the_others(library: Library, folder: Path) -> None:
    for number in range(3):
        (folder / f"{number}.txt").write_text(prose(number, 3))

    def reading(path: Path, options: ReadOptions):  # type: ignore[no-untyped-def]  # as indexer.parse.read
        if path.name == "1.txt":
            raise ZeroDivisionError("a fault")
        return read(path, options)

    report = add(library, [str(folder)], OPTIONS, read=reading)
    assert statuses(report) == {"0.txt": Status.INDEXED, "1.txt": Status.FAILED, "2.txt": Status.INDEXED}
    assert "internal error" in (report.files[1].reason or "")


def test_stopping_keeps_what_was_encoded_and_shows_no_half_document(
    library: Library, folder: Path, encoder: FakeEncoder
) -> None:
    (folder / "a.txt").write_text(prose(1, 400))
    stopping = threading.Event()

    def progress(moment: Progress) -> None:
        if moment.tokens > 2_000:
            stopping.set()

    report = add(library, [str(folder)], OPTIONS, Listener(progress=progress, stopping=stopping))
    assert report.stopped
    assert list(library.store.documents()) == []
    first = list(encoder.encoded)
    assert first
    encoder.encoded.clear()
    again = add(library, [str(folder)], OPTIONS)
    assert statuses(again) == {"a.txt": Status.INDEXED}
    repeated = set(first) & set(encoder.encoded)
    assert len(repeated) <= encoder.batch


def test_stopping_does_not_wait_for_a_reader_that_hangs(library: Library, folder: Path) -> None:
    (folder / "a.txt").write_text(prose(1, 3))
    listener, hanging = Listener(), threading.Event()

    def reading(path: Path, options: ReadOptions):  # type: ignore[no-untyped-def]  # as indexer.parse.read
        listener.stopping.set()
        hanging.wait(60)
        return read(path, options)

    report = add(library, [str(folder)], OPTIONS, listener, read=reading)
    hanging.set()
    assert report.stopped
    assert report.seconds < 30
    assert list(library.store.documents()) == []


def test_runs_that_changed_something_are_remembered(run: Run, folder: Path, library: Library) -> None:
    (folder / "a.txt").write_text(prose(1, 10))
    report = run()
    run()
    (kept,) = library.store.runs()
    assert (kept.added, kept.tokens) == (1, report.tokens)


def test_listeners_hear_of_files_and_of_progress(run: Run, folder: Path) -> None:
    for number in range(4):
        (folder / f"{number}.txt").write_text(prose(number, 10))
    files: list[FileReport] = []
    moments: list[Progress] = []
    run(listener=Listener(progress=moments.append, file=lambda report, stages: files.append(report)))
    assert len(files) == 4
    assert moments[-1].documents_total == 4
    assert [moment.tokens for moment in moments] == sorted(moment.tokens for moment in moments)


def test_an_encoder_that_fails_ends_the_run_and_keeps_what_was_finished(
    library: Library, folder: Path, encoder: FakeEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text(prose(1, 3))
    add(library, [str(folder)], OPTIONS)

    def failing(texts: object) -> Iterator[object]:
        raise RuntimeError("the encoder broke")

    monkeypatch.setattr(encoder, "encode_in_batches", failing)
    (folder / "b.txt").write_text(prose(2, 3))
    with pytest.raises(RuntimeError, match="the encoder broke"):
        add(library, [str(folder)], OPTIONS)
    assert len(list(library.store.documents())) == 1


def test_a_name_that_is_not_utf8_is_kept(run: Run, folder: Path, library: Library) -> None:
    path = Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt"))
    path.write_text(prose(1, 3))
    run()
    (document,) = library.store.documents()
    assert os.fsencode(document.paths[0]).endswith(b"caf\xe9.txt")
    assert run().unchanged == 1


def test_options_show_no_password() -> None:
    assert "secret" not in repr(AddOptions(ReadOptions(passwords=("secret",))))


def test_a_full_disk_ends_the_run_with_its_reason_and_the_library_as_it_was(
    library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text(prose(1, 3))
    add(library, [str(folder)], OPTIONS)
    (folder / "b.txt").write_text(prose(2, 300))

    def full(*_: object, **__: object) -> None:
        raise LibraryError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(library.store, "put_embeddings", full)
        with pytest.raises(LibraryError, match="The disk is full"):
            add(library, [str(folder)], OPTIONS)
    assert [Path(document.paths[0]).name for document in library.store.documents()] == ["a.txt"]
    assert statuses(add(library, [str(folder)], OPTIONS)) == {"a.txt": Status.UNCHANGED, "b.txt": Status.INDEXED}
