"""Building a library anew after another recipe, beside the chunks it goes on answering from, and changing over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from indexer.chunk import chunk_pages
from indexer.datatypes import Encoder, Heading, Matrix, Page, Recipe, Vector
from indexer.errors import LibraryError
from indexer.faults import fault_point
from indexer.library import Library
from indexer.pooling import DocumentPooling
from indexer.store import RecipeState
from indexer.windows import Window, Windowing

Watch = Callable[[int, int, str], None]
"""Is told how many documents are done, how many there are to do, and how the next one is called."""

_WAVE = 512
"""Chunks that are encoded at a time: enough for batches of equal length, little enough to lose."""


class Gate(Protocol):
    """Judges a recipe by an evaluation set: the figure it returns must not fall."""

    def __call__(self, recipe: Recipe) -> float: ...


class GateRefusedError(LibraryError):
    """The new recipe answered the evaluation set worse than the one in use, which stays in use."""


@dataclass(frozen=True, slots=True)
class Reindexed:
    """What ``reindex`` built, and what the gate measured before and after, if there was one."""

    recipe: Recipe
    documents: int
    chunks: int
    encoded: int
    before: float | None = None
    after: float | None = None


def reindex(
    library: Library, recipe: Recipe, encoder: Encoder, *, gate: Gate | None = None, watch: Watch | None = None
) -> Reindexed:
    """Build every document after ``recipe`` and search that from then on; needs the writer lock.

    Searches are answered from the recipe in use until the last document is built, then from the new one, in one step.
    Killed, it goes on where it was when it is called again. The old recipe is kept until ``prune``. Raises
    GateRefusedError when ``gate`` gives the new recipe a lower figure than the one in use.
    """
    store = library.store
    before = after = None
    if gate is not None:
        before, after = gate(store.recipe), gate(recipe)
        if after < before:
            raise GateRefusedError(
                f"The evaluation gives {before:.4f} now and would give {after:.4f}, so the library stays as it is. Run "
                "`longdoc reindex` without --gate to build it anew all the same."
            )
    recipe_id = store.prepare_recipe(recipe)
    pending = store.pending_documents(recipe_id)
    chunks = encoded = 0
    for number, document_id in enumerate(pending.tolist()):
        if watch is not None:
            watch(number, len(pending), store.document(document_id).display_title)
        written, new = _rewrite(library, document_id, recipe_id, encoder)
        chunks, encoded = chunks + written, encoded + new
        fault_point("reindex.document")
    store.activate(recipe_id)
    return Reindexed(recipe, len(pending), chunks, encoded, before, after)


def go_back(library: Library) -> Recipe:
    """Search the recipe again that was in use before; needs the writer lock.

    Raises LibraryError when there is none, or when documents came in since (``reindex`` to it encodes those).
    """
    kept = [one for one in library.store.recipes() if one.state is RecipeState.PREVIOUS]
    if not kept:
        raise LibraryError("There is no earlier recipe to go back to; `longdoc prune` may have dropped it.")
    library.store.activate(kept[-1].id)
    return kept[-1].recipe


def pages_of(library: Library, document_id: int) -> Iterator[Page]:
    """A kept document's pages as they were read, one at a time."""
    headings = library.store.headings(document_id)
    for page in library.store.pages(document_id):
        inside = tuple(
            Heading(heading.level, heading.title, heading.start - page.span.start)
            for heading in headings
            if page.span.start <= heading.start < page.span.end
        )
        text = library.store.text(document_id, page.span)
        yield Page(text, page.offsets, page.number, page.label, inside, page.language, page.unread)


def _rewrite(library: Library, document_id: int, recipe_id: int, encoder: Encoder) -> tuple[int, int]:
    """Build one document after a recipe; returns its number of chunks and how many of them had to be encoded."""
    recipe = library.store.recipe_of(recipe_id)
    windowing = Windowing.of(recipe, encoder)
    writer = library.store.rewrite(document_id, recipe_id)
    pooling = DocumentPooling(recipe.document_pooling, recipe.dimension)
    written = encoded = 0
    chunks = chunk_pages(
        pages_of(library, document_id),
        encoder.count_tokens,
        chunk_tokens=recipe.chunk_tokens,
        minimum=recipe.chunk_minimum,
    )
    for wave in _waves(windowing.cut(chunks)):
        rows, new = _encode(library, recipe_id, lambda missing: windowing.encode(encoder, missing), wave)
        cut = [chunk for window in wave for chunk in window.chunks]
        keys = [key for window in wave for key in window.keys]
        writer.write(cut, keys)
        for chunk, key in zip(cut, keys, strict=True):
            pooling.add(rows[key], chunk.tokens)
        written, encoded = written + len(cut), encoded + new
    writer.finish(pooling.embedding)
    return written, encoded


def _encode(
    library: Library, recipe_id: int, encode: Callable[[Sequence[Window]], Matrix], windows: Sequence[Window]
) -> tuple[dict[bytes, Vector], int]:
    """The embeddings of chunks by their keys; those the library lacked are encoded, kept, and counted."""
    known = library.store.embeddings_by_hash((key for window in windows for key in window.keys), recipe_id)
    missing = {window.keys: window for window in windows if any(key not in known for key in window.keys)}
    if not missing:
        return known, 0
    keys = [key for window in missing.values() for key in window.keys]
    new = dict(zip(keys, encode(list(missing.values())), strict=True))
    library.store.put_embeddings(new, recipe_id)
    return new | known, len(new)


def _waves(windows: Iterator[Window]) -> Iterator[list[Window]]:
    wave: list[Window] = []
    chunks = 0
    for window in windows:
        wave.append(window)
        chunks += len(window.chunks)
        if chunks >= _WAVE:
            yield wave
            wave, chunks = [], 0
    if wave:
        yield wave
