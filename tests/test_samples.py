"""The sample documents are what data/README.md says, and the manual is what its script typesets."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pypdf
import pytest

from tests.test_packaging import ROOT, load_script

SAMPLES = ROOT / "data" / "samples"
MANUAL = SAMPLES / "manuals" / "TW-340-metering-pump-manual.pdf"


def text_of(path: Path) -> str:
    if path.suffix == ".pdf":
        return "".join(page.extract_text() for page in pypdf.PdfReader(path).pages)
    text = path.read_text(encoding="utf-8")
    return re.sub(r"<style.*?</style>|<[^>]+>", "", text, flags=re.DOTALL) if path.suffix == ".html" else text


def test_the_shelf_is_long_and_in_several_languages() -> None:
    texts = {path.name: text_of(path) for path in SAMPLES.rglob("*") if path.is_file()}
    assert len(texts) >= 10
    assert sum(len(text) > 10_000 for text in texts.values()) >= 6
    chinese = [name for name, text in texts.items() if len(re.findall(r"[\u4e00-\u9fff]", text)) > len(text) / 3]
    assert len(chinese) == 2


def test_every_sample_is_described() -> None:
    described = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    for path in SAMPLES.rglob("*.*"):
        assert path.name in described or path.stem.endswith("-2025"), path.name


def test_the_manual_has_an_outline_and_page_labels() -> None:
    reader = pypdf.PdfReader(MANUAL)
    assert len(reader.pages) >= 30
    assert [entry.title for entry in reader.outline if not isinstance(entry, list)][:2] == [
        "1 About this manual",
        "2 Safety",
    ]
    assert reader.page_labels[:7] == ["i", "ii", "iii", "iv", "v", "vi", "1"]
    assert f"| {len(reader.pages)} pages" in (ROOT / "data" / "README.md").read_text(encoding="utf-8")


def test_the_committed_manual_is_what_its_script_typesets(tmp_path: Path) -> None:
    pytest.importorskip("reportlab", reason="typesetting needs reportlab")
    load_script(ROOT / "data" / "typeset.py").typeset(tmp_path / "manual.pdf")
    assert text_of(tmp_path / "manual.pdf") == text_of(MANUAL)


def test_the_two_agreements_differ_in_a_few_lines_only() -> None:
    old, new = (text_of(SAMPLES / "contracts" / f"supply-agreement-{year}.txt").splitlines() for year in (2024, 2025))
    changed = [line for line in difflib.unified_diff(old, new, lineterm="", n=0) if re.match(r"-[^-]", line)]
    assert 15 <= len(changed) <= 25
