"""LaTeX source, through pylatexenc: the text as it would be set, formulas as they are typed, sections as headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from indexer.parse.blocks import Block, stretches
from indexer.parse.formats.text import decoded, text_stretches
from indexer.parse.model import Facts, Format, RawPage, Sample
from indexer.parse.options import ReadOptions

_LEVELS = {"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5}
_SECTION = re.compile(r"\\(" + "|".join(_LEVELS) + r")\*?\s*(?:\[[^\]]*\])?\{((?:[^{}]|\{[^{}]*\})*)\}")
_COMMENT = re.compile(r"(?<!\\)%.*")
_SIGNS = re.compile(r"\\(?:documentclass|begin\{document\}|section\*?\{|usepackage|chapter\*?\{)")
_FACTS = (
    ("title", re.compile(r"\\title\s*(?:\[[^\]]*\])?\{((?:[^{}]|\{[^{}]*\})*)\}")),
    ("author", re.compile(r"\\author\s*\{((?:[^{}]|\{[^{}]*\})*)\}")),
)
_PIECE_CHARS = 1 << 15


def _plain(source: str) -> str:
    from pylatexenc.latex2text import LatexNodes2Text

    text = LatexNodes2Text(math_mode="verbatim", strict_latex_spaces=False).latex_to_text(source, tolerant_parsing=True)
    return str(text)


def _blocks(pieces: Iterator[str], facts: Facts) -> Iterator[Block]:
    for piece in text_stretches(pieces, limit=_PIECE_CHARS):
        source = _COMMENT.sub("", piece)
        for name, pattern in _FACTS:
            if (match := pattern.search(source)) and not getattr(facts, name):
                setattr(facts, name, _plain(match[1]))
        source = re.sub(r"(?s)^.*?\\begin\{document\}", "", source).replace(r"\maketitle", "")
        place = 0
        for match in _SECTION.finditer(source):
            yield from _paragraphs(source[place : match.start()])
            yield Block(_plain(match[2]), _LEVELS[match[1]])
            place = match.end()
        yield from _paragraphs(source[place:])


def _paragraphs(source: str) -> Iterator[Block]:
    if source.strip():
        for paragraph in re.split(r"\n\s*\n", _plain(source)):
            yield Block(" ".join(paragraph.split()))


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    yield from stretches(_blocks(decoded(path, facts), facts))


def _recognise(sample: Sample) -> int:
    if sample.text is None:
        return 0
    signs = len(_SIGNS.findall(sample.text))
    if sample.suffix in ("tex", "latex", "ltx"):
        return 45 if signs or "\\" in sample.text else 0
    return 35 if r"\documentclass" in sample.text and signs > 1 else 0


FORMATS = (Format("latex", "application/x-tex", ("tex",), "pylatexenc", _recognise, _extract),)
