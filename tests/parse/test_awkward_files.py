"""The collection of real awkward files, where it lies beside the checkout: statuses, sentences, encodings, memory."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from indexer.datatypes import Document, Status
from indexer.parse import ReadOptions, read, sandbox

FOLDER = Path(os.environ.get("LONGDOC_EVAL", Path(__file__).resolve().parents[3] / "shared" / "eval")) / "files"

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"there is no {FOLDER} (set LONGDOC_EVAL to the collection)"
)

READ = (Status.INDEXED, Status.PARTIAL)
NO_TEXT = (Status.NEEDS_OCR, Status.EMPTY, Status.PARTIAL)
BROKEN = (Status.FAILED, Status.EMPTY, Status.PARTIAL, Status.INDEXED)
CODECS = {
    "Big5": "big5hkscs",
    "CP932": "cp932",
    "CP949": "cp949",
    "EUC-JP": "euc_jp",
    "EUC-KR": "euc_kr",
    "GB2312": "gb18030",
    "IBM866": "cp866",
    "Johab": "johab",
    "KOI8-R": "koi8_r",
    "SHIFT_JIS": "cp932",
    "TIS-620": "cp874",
    "UTF-16BE": "utf-16-be",
    "UTF-16LE": "utf-16-le",
    "UTF-32BE": "utf-32-be",
    "UTF-32LE": "utf-32-le",
    "iso-2022-jp": "iso2022_jp",
    "iso-2022-kr": "iso2022_kr",
    "iso-8859-1": "cp1252",
    "iso-8859-6-arabic": "iso8859_6",
    "utf-8-sig": "utf-8-sig",
    "windows-1251-russian": "cp1251",
    "windows-1252": "cp1252",
    "windows-1254-turkish": "cp1254",
    "windows-1255-hebrew": "cp1255",
    "windows-1256-arabic": "cp1256",
}


@dataclass(frozen=True)
class Case:
    path: Path
    awkward: str
    expected: str
    password: str
    must_contain: str


def cases() -> Iterator[Case]:
    for manifest in sorted(FOLDER.glob("*/manifest.tsv")):
        with manifest.open(encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                texts = (row[key] or "" for key in ("awkward", "expected_from_source", "password", "must_contain"))
                yield Case(manifest.parent / row["file"], *texts)


def read_case(case: Case) -> tuple[str, Document]:
    options = ReadOptions(passwords=(case.password,) if case.password else (), ocr="never", seconds=120)
    with read(case.path, options) as reading:
        text = "".join(page.text for page in reading)
    return text, reading.document


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


@pytest.mark.slow
def test_every_file_has_a_right_status_its_sentence_and_a_small_reader() -> None:
    wrong, counts = [], Counter[str]()
    largest = 0
    for case in cases():
        text, document = read_case(case)
        counts[document.status.value] += 1
        if document.status not in allowed(case) or case.must_contain not in text:
            wrong.append(f"{case.path.name}: {document.status.value} ({document.reason}), allowed {allowed(case)}")
        if document.status is not Status.INDEXED:
            assert document.reason, case.path.name
        largest = max(largest, *(psutil.Process(worker.pid).memory_info().rss for worker in sandbox.POOL._idle), 0)
    print(dict(counts), f"largest reader {largest >> 20} MB")
    assert not wrong, "\n".join(wrong)
    assert sum(counts.values()) >= 220
    assert largest < 1 << 30


def test_texts_are_read_in_the_encoding_that_their_names_say() -> None:
    wrong = []
    named = [case for case in cases() if case.path.parent.name == "encodings" and "directory says" in case.expected]
    for case in named:
        name = case.expected.removeprefix("directory says ")
        if name not in CODECS or case.path.suffix != ".txt":
            continue
        text, _ = read_case(case)
        wanted = case.path.read_bytes().decode(CODECS[name], "replace")
        if "".join(wanted.split())[:2000] not in "".join(text.split()) and _share(wanted, text) < 0.98:
            wrong.append(case.path.name)
    assert len(named) > 40
    assert not wrong


def _share(wanted: str, found: str) -> float:
    """The share of a text's characters that another has as well, however often."""
    a, b = Counter("".join(wanted.split())), Counter("".join(found.split()))
    return sum((a & b).values()) / max(sum(a.values()), 1)
