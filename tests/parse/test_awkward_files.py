"""The collection of real awkward files, where it lies beside the checkout: statuses, what is found, encodings."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from indexer.datatypes import Document
from indexer.parse import ReadOptions, read
from tests.benchmarks.awkward import Case, cases, examine
from tests.benchmarks.material import evaluation_folder

FOLDER = (evaluation_folder() or Path("shared/eval")) / "files"

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"there is no {FOLDER} (set LONGDOC_EVAL to the collection)"
)

GLUED = {"simple3.pdf: Hello"}
"""The page shows HelloHello, its second half raised: one word, which a search for half of it does not find."""

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


def read_case(case: Case) -> tuple[str, Document]:
    options = ReadOptions(passwords=(case.password,) if case.password else (), ocr="never", seconds=120)
    with read(case.path, options) as reading:
        text = "".join(page.text for page in reading)
    return text, reading.document


@pytest.mark.slow
def test_every_file_has_a_right_status_and_is_found_by_its_sentence(tmp_path: Path) -> None:
    findings = examine(FOLDER, tmp_path)
    assert not findings.wrong, "\n".join(findings.wrong)
    assert findings.statuses.total() >= 220
    for mode in findings.ranks:
        assert set(findings.missed(mode)) <= GLUED, mode
    assert 0 < findings.largest_reader < 1 << 30


def test_texts_are_read_in_the_encoding_that_their_names_say() -> None:
    wrong = []
    named = [
        case for case in cases(FOLDER) if case.path.parent.name == "encodings" and "directory says" in case.expected
    ]
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
