"""What the benchmarks of the write path work on: real texts where they are at hand, and text of any length."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "data" / "samples"


def evaluation_folder() -> Path | None:
    """The evaluation data beside the checkout, or where LONGDOC_EVAL says; None when it is not there."""
    for path in (
        os.environ.get("LONGDOC_EVAL"),
        ROOT.parent / "shared" / "eval",
        ROOT.parent.parent / "shared" / "eval",
    ):
        if path and Path(path).is_dir():
            return Path(path)
    return None


def real_folder(folder: Path, documents: int) -> Path:
    """A folder of real texts and PDFs: long papers as text, and one PDF for every four of them; else the samples."""
    folder.mkdir(parents=True)
    evaluation = evaluation_folder()
    if evaluation is None:
        shutil.copytree(SAMPLES, folder, dirs_exist_ok=True)
        return folder
    with (evaluation / "covidqa" / "corpus.jsonl").open(encoding="utf-8") as corpus:
        for number, line in zip(range(documents), corpus, strict=False):
            (folder / f"{number:03}.txt").write_text(json.loads(line)["text"], encoding="utf-8")
    pdfs = (path for path in sorted((evaluation / "files").rglob("*.pdf")) if 50_000 < path.stat().st_size < 500_000)
    for path in itertools.islice(filter(_has_text, pdfs), documents // 4):
        shutil.copy(path, folder / path.name)
    return folder


def _has_text(path: Path) -> bool:
    """Whether a PDF has a page of text; a scan would measure the OCR, which takes seconds of both processors a page."""
    from indexer.parse import ReadOptions, read

    with read(path, ReadOptions(ocr="never", sandbox=False)) as reading:
        return sum(len(page.text) for page in reading) > 1_000


def sentences_of_samples() -> list[str]:
    """The sentences of the English sample documents."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(SAMPLES.rglob("*.txt"))]
    found = [part.strip() for text in texts for part in re.split(r"(?<=[.!?])\s+", text)]
    return [sentence for sentence in dict.fromkeys(found) if 30 < len(sentence) < 300 and sentence.isascii()]


def long_text(chars: int, seed: int = 0) -> str:
    """English of ``chars`` characters in paragraphs: sample sentences whose words are mixed, so that none repeats."""
    generator = random.Random(seed)
    sentences = [sentence.split() for sentence in sentences_of_samples()]
    paragraphs: list[str] = []
    written = 0
    while written < chars:
        sentence_count = generator.randint(3, 7)
        made = []
        for _ in range(sentence_count):
            one, other = generator.choice(sentences), generator.choice(sentences)
            words = one[: len(one) // 2] + other[len(other) // 2 :]
            made.append(" ".join(words))
        paragraphs.append(" ".join(made))
        written += len(paragraphs[-1]) + 2
    return "\n\n".join(paragraphs)[:chars]
