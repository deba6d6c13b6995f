"""Where the haystacks' text comes from: a library, or the files of a folder, told apart by language."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from indexer.chunk import chunk_pages
from indexer.datatypes import Encoder, OffsetMap, Page
from indexer.library import Library
from indexer.parse import ReadOptions, read
from indexer.settings import Settings

_LEAST_BACKGROUND = 2_000
_MOST_BACKGROUND = 2_000_000


def read_backgrounds(texts: Iterator[str]) -> dict[str, str]:
    """Texts by language, English or Chinese by their characters; a language with too little text is left out."""
    gathered: dict[str, list[str]] = {"en": [], "zh": []}
    sizes = dict.fromkeys(gathered, 0)
    for text in texts:
        chinese = sum("\u4e00" <= character <= "\u9fff" for character in text)
        latin = sum(character.isascii() and character.isalpha() for character in text)
        language = "zh" if chinese > len(text) / 4 else "en" if latin > len(text) / 2 else None
        if language is not None and sizes[language] < _MOST_BACKGROUND:
            gathered[language].append(text)
            sizes[language] += len(text)
    return {name: "\n".join(parts) for name, parts in gathered.items() if sizes[name] >= _LEAST_BACKGROUND}


def library_texts(library: Library) -> Iterator[str]:
    """The text of every document of a library that has one."""
    for document in library.store.documents():
        if document.status.searchable:
            yield "".join(stored.chunk.text for stored in library.store.document_chunks(document.id))


def folder_texts(folder: Path, settings: Settings) -> Iterator[str]:
    """The text of every file below a folder that can be read."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with read(path, ReadOptions.from_settings(settings)) as reading:
            text = "".join(page.text for page in reading)
        if text.strip():
            yield text


def background_chunks(backgrounds: dict[str, str], encoder: Encoder, settings: Settings, count: int) -> list[str]:
    """At most ``count`` chunks as an `add` would encode them, spread evenly over the languages and their texts."""
    chunks = [
        chunk.text
        for text in backgrounds.values()
        for chunk in chunk_pages(
            [Page(text, OffsetMap.identity(len(text)))],
            encoder.count_tokens,
            chunk_tokens=min(settings.chunk_tokens, encoder.max_tokens),
            minimum=settings.chunk_minimum,
        )
    ]
    return chunks[:: max(len(chunks) // count, 1)][:count]
