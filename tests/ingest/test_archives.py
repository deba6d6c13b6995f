"""Archives and mails: their members are documents of their own, which lie at the archive's path and a mark."""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from email.message import EmailMessage
from importlib.util import find_spec
from pathlib import Path

import pypdf
import pytest

from indexer.datatypes import EncodedBatch, RunReport, Status
from indexer.ingest import remove
from indexer.library import Library
from tests.fakes import FakeEncoder
from tests.ingest.conftest import prose
from tests.parse.test_pdf import lines, made

Run = Callable[..., RunReport]


def pack(path: Path, **members: str) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(f"inner/{name}.txt", text)


def inside(report: RunReport, folder: Path) -> dict[str, Status]:
    return {os.path.relpath(file.path, folder): file.status for file in report.files}


def test_an_archives_members_are_documents(run: Run, folder: Path, library: Library, encoder: FakeEncoder) -> None:
    pack(folder / "a.zip", one=prose(1, 3), two=prose(2, 3))
    assert inside(run(), folder) == {
        "a.zip!/inner/one.txt": Status.INDEXED,
        "a.zip!/inner/two.txt": Status.INDEXED,
    }
    encoder.encoded.clear()
    again = run()
    assert (again.unchanged, again.added, encoder.encoded) == (2, 0, [])


def test_a_changed_archive_encodes_what_is_new_and_drops_what_is_gone(
    run: Run, folder: Path, library: Library, encoder: FakeEncoder
) -> None:
    pack(folder / "a.zip", one=prose(1, 3), two=prose(2, 3), three=prose(3, 3))
    run()
    encoder.encoded.clear()
    pack(folder / "a.zip", one=prose(1, 3), two=prose(4, 3))
    report = run()
    assert inside(report, folder) == {
        "a.zip!/inner/one.txt": Status.UNCHANGED,
        "a.zip!/inner/two.txt": Status.INDEXED,
        "a.zip!/inner/three.txt": Status.REMOVED,
    }
    assert (report.updated, report.added, report.removed) == (1, 0, 1)
    assert "".join(encoder.encoded).strip() == prose(4, 3)
    assert run().unchanged == 2


def test_an_archive_that_goes_takes_its_members_along(run: Run, folder: Path, library: Library) -> None:
    pack(folder / "a.zip", one=prose(1, 3), two=prose(2, 3))
    (folder / "b.txt").write_text(prose(5, 3))
    run()
    (folder / "a.zip").unlink()
    assert run().removed == 2
    pack(folder / "a.zip", one=prose(1, 3), two=prose(2, 3))
    run()
    assert len(remove(library, [str(folder / "a.zip")])) == 2
    assert [document.paths for document in library.store.documents()] == [(str(folder / "b.txt"),)]


class LastFirst(FakeEncoder):
    """Waits until the whole archive is read, and encodes what was read last first."""

    def prepare(self) -> None:
        time.sleep(0.3)

    def encode_in_batches(self, texts: Sequence[str]) -> Iterator[EncodedBatch]:
        yield from sorted(super().encode_in_batches(texts), key=lambda batch: -int(batch.positions[0]))


@pytest.mark.parametrize("encoder", [FakeEncoder(), LastFirst(batch=1)], ids=["in order", "last first"])
def test_an_archives_time_of_change_is_kept_in_whatever_order_its_members_end(
    run: Run, folder: Path, library: Library
) -> None:
    pack(folder / "a.zip", one=prose(1, 3), two=prose(2, 3))
    run()
    first = library.store.file(str(folder / "a.zip!/inner/one.txt"))
    second = library.store.file(str(folder / "a.zip!/inner/two.txt"))
    assert first is not None
    assert second is not None
    assert first.mtime_ns == second.mtime_ns == (folder / "a.zip").stat().st_mtime_ns
    assert run().unchanged == 2


def test_an_empty_archive_has_a_status(run: Run, folder: Path) -> None:
    pack(folder / "a.zip")
    assert inside(run(), folder) == {"a.zip": Status.EMPTY}
    assert run().unchanged == 1


@pytest.mark.skipif(find_spec("indexer.parse.formats.mail") is None, reason="mails are not read yet")
def test_a_mail_and_its_attachment(run: Run, folder: Path) -> None:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = "The offer", "a@example.org", "b@example.org"
    mail.set_content("Dear Sir or Madam, the offer is attached. Kind regards.")
    mail.add_attachment(prose(6, 3).encode(), maintype="text", subtype="plain", filename="offer.txt")
    (folder / "mail.eml").write_bytes(mail.as_bytes())
    found = inside(run(), folder)
    assert found == {"mail.eml": Status.INDEXED, "mail.eml!/offer.txt": Status.INDEXED}
    assert run().unchanged == 2


def test_a_pdf_and_its_attachment_move_together(run: Run, folder: Path) -> None:
    path = made(folder, lambda canvas: lines(canvas, 700, "The offer is attached to this letter."), "letter.pdf")
    writer = pypdf.PdfWriter(clone_from=path)
    writer.add_attachment("offer.txt", prose(6, 3).encode())
    writer.write(path)
    assert inside(run(), folder) == {"letter.pdf": Status.INDEXED, "letter.pdf!/offer.txt": Status.INDEXED}
    assert run().unchanged == 2
    path.rename(folder / "moved.pdf")
    report = run()
    assert (report.failed, report.tokens) == (0, 0)
    assert {"moved.pdf", "moved.pdf!/offer.txt"} <= {
        name for name, status in inside(report, folder).items() if status is not Status.REMOVED
    }
