"""reStructuredText, through docutils with everything that reaches outside the text switched off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexer.parse.blocks import Block, stretches
from indexer.parse.formats.text import decoded
from indexer.parse.model import Facts, Format, RawPage, Sample
from indexer.parse.options import ReadOptions

_MOST_CHARS = 8 << 20
_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 6,
    "warning_stream": False,
    "_disable_config": True,
    "line_length_limit": 1_000_000,
    "syntax_highlight": "none",
    "smart_quotes": False,
}
_ADORNMENT = re.compile(r"^(\S.*)\n([=\-~^\"'#*+`:.])\2{2,}[ \t]*$", re.MULTILINE)
_SIGNS = re.compile(r"^\.\. [\w-]+::|^:\w+:`|^\.\. _[^:]+:|``[^`\n]+``|^:[\w-]+: \S", re.MULTILINE)


def _doctree(source: str) -> Any:
    from docutils.core import publish_doctree

    return publish_doctree(source, settings_overrides=_SETTINGS)


def _blocks(node: Any, level: int = 0) -> Iterator[Block]:
    from docutils import nodes

    for child in node.children:
        if isinstance(child, nodes.title):
            yield Block(child.astext(), max(level, 1))
        elif isinstance(child, nodes.row):
            yield Block(" | ".join(" ".join(cell.astext().split()) for cell in child.children), tight=True)
        elif isinstance(child, nodes.list_item):
            yield Block("- " + " ".join(child.astext().split()), tight=True)
        elif isinstance(child, (nodes.comment, nodes.substitution_definition, nodes.system_message, nodes.target)):
            continue
        elif isinstance(child, nodes.TextElement):
            yield Block(child.astext())
        else:
            yield from _blocks(child, level + isinstance(child, nodes.section))
            if isinstance(child, (nodes.table, nodes.bullet_list, nodes.enumerated_list)):
                yield Block("")


def _extract(path: Path, options: ReadOptions, facts: Facts) -> Iterator[RawPage]:
    source = "".join(decoded(path, facts)) if path.stat().st_size <= _MOST_CHARS else ""
    if not source:
        from indexer.parse.formats.text import text_stretches

        yield from map(RawPage, text_stretches(decoded(path, facts)))
        return
    tree = _doctree(source.removeprefix("\ufeff"))
    facts.title = str(tree.get("title") or "") or None

    def blocks() -> Iterator[Block]:
        yield from _blocks(tree, 1)

    yield from stretches(blocks())


def _recognise(sample: Sample) -> int:
    if sample.text is None:
        return 0
    if sample.suffix in ("rst", "rest"):
        return 45
    text = sample.text[:16000]
    signs = len(_SIGNS.findall(text))
    return 14 if sample.suffix == "" and _ADORNMENT.search(text) and signs > 3 and ".. " in text else 0


FORMATS = (Format("rst", "text/x-rst", ("rst",), "docutils", _recognise, _extract),)
