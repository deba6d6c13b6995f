"""Markdown: headings, paragraphs, lists and tables as plain text, without the marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from indexer.parse.blocks import Block, stretches
from indexer.parse.formats.text import decoded
from indexer.parse.model import Facts, Format, RawPage, Sample
from indexer.parse.options import ReadOptions

_SECTION_CHARS = 1 << 18
_MARKS = re.compile(r"^(?:#{1,6} \S|```|\* \S|- \S|\|.*\|$|\[[^\]]+\]\([^)]+\)|> \S)", re.MULTILINE)
_RUN_ENDS = ("table_close", "bullet_list_close", "ordered_list_close")
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n(?:---|\.\.\.)\n", re.DOTALL)


def _sections(pieces: Iterator[str]) -> Iterator[str]:
    """Bounded sections of the source, cut before a heading and never inside a fence."""
    lines: list[str] = []
    size = 0
    fence = ""
    for line in _lines(pieces):
        mark = line.lstrip()[:3]
        if (
            not fence
            and size > _SECTION_CHARS
            and (line.startswith("#") or not line.strip() or size > 4 * _SECTION_CHARS)
        ):
            yield "".join(lines)
            lines, size = [], 0
        if mark in ("```", "~~~") and mark == (fence or mark):
            fence = "" if fence else mark
        lines.append(line)
        size += len(line)
    yield "".join(lines)


def _lines(pieces: Iterator[str]) -> Iterator[str]:
    rest = ""
    for piece in pieces:
        *whole, rest = (rest + piece).replace("\r\n", "\n").splitlines(keepends=True) or [""]
        if rest.endswith("\n") or len(rest) > _SECTION_CHARS:
            whole.append(rest)
            rest = ""
        yield from whole
    if rest:
        yield rest


def markdown_blocks(source: str) -> Iterator[Block]:
    """The blocks of a piece of Markdown."""
    level, depth = 0, 0
    row: list[str] | None = None
    for token in MarkdownIt("commonmark", {"maxNesting": 40}).enable("table").parse(source):
        if token.type == "list_item_open" or token.type == "list_item_close":
            depth += token.nesting
        elif token.type == "heading_open" or token.type == "heading_close":
            level = int(token.tag[1]) if token.nesting > 0 else 0
        elif token.type == "tr_open":
            row = []
        elif token.type == "tr_close":
            yield Block(" | ".join(row or ()), tight=True)
            row = None
        elif token.type == "inline" and row is not None:
            row.append(_inline(token))
        elif token.type in _RUN_ENDS and not depth:
            yield Block("")
        elif token.content:
            yield _block(token, level, depth)


def _block(token: Token, level: int, depth: int) -> Block:
    if token.type == "inline":
        return Block(("- " if depth else "") + _inline(token), level, tight=depth > 0)
    if token.type in ("fence", "code_block"):
        return Block(token.content)
    return Block(re.sub(r"<[^>]*>", " ", token.content))


def _inline(token: Token) -> str:
    parts: list[str] = []
    for child in token.children or ():
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif child.type == "image":
            parts.append(child.content)
    return "".join(parts)


def _front_matter(source: str, facts: Facts) -> str:
    """Take title, author and date from a YAML head and return the rest."""
    match = _FRONT_MATTER.match(source)
    if match is None:
        return source
    fields = dict(re.findall(r"^(\w+):[ \t]*[\"']?(.*?)[\"']?[ \t]*$", match[1], re.MULTILINE))
    facts.title = fields.get("title") or facts.title
    facts.author = fields.get("author") or facts.author
    facts.created = fields.get("date") or facts.created
    facts.language = fields.get("lang") or facts.language
    return source[match.end() :]


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    def blocks() -> Iterator[Block]:
        first = True
        for section in _sections(decoded(path, facts)):
            source = _front_matter(section.removeprefix("\ufeff"), facts) if first else section
            first = False
            for block in markdown_blocks(source):
                if block.level == 1 and not facts.title:
                    facts.title = block.text
                yield block

    yield from stretches(blocks())


def _recognise(sample: Sample) -> int:
    if sample.text is None:
        return 0
    if sample.suffix in ("md", "markdown", "mdown", "mkd"):
        return 40
    marks = _MARKS.findall(sample.text[:16000])
    return 12 if sample.suffix == "" and len({mark[:2] for mark in marks}) > 2 and len(marks) > 5 else 0


FORMATS = (Format("md", "text/markdown", ("md", "markdown"), "markdown-it-py", _recognise, _extract),)
