"""What every part of the store has in hand: the connections, and the recipe whose chunks it speaks of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from indexer.datatypes import Ids, Recipe
from indexer.store.connection import Connections
from indexer.store.records import RecipeState
from indexer.store.values import to_ids, unpack_recipe


class Part:
    """The base of the store's parts. The recipe in use may be changed by another process: it is looked up each time."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @property
    def path(self) -> Path:
        """The library's SQLite file."""
        return self._connections.path

    @property
    def recipe_id(self) -> int:
        """The id of the recipe whose chunks are searched."""
        return int(self._connections.value("SELECT id FROM recipes WHERE state = ?", [RecipeState.ACTIVE]))

    @property
    def recipe(self) -> Recipe:
        """The recipe whose chunks are searched."""
        return self.recipe_of(self.recipe_id)

    def recipe_of(self, recipe_id: int) -> Recipe:
        """A recipe by id."""
        return unpack_recipe(self._connections.value("SELECT recipe FROM recipes WHERE id = ?", [recipe_id]))

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All that this thread reads inside the block is of one moment."""
        with self._connections.reading():
            yield

    def encoder_id(self, recipe_id: int | None = None) -> int:
        """The id of the encoder of a recipe, of the one in use when none is named."""
        return int(
            self._connections.value("SELECT encoder_id FROM recipes WHERE id = ?", [recipe_id or self.recipe_id])
        )

    def generation(self) -> int:
        """A number that grows with every change a reader could see."""
        return int(self._connections.value("SELECT value FROM meta WHERE key = 'generation'"))

    def visible_chunks(self, recipe_id: int) -> Ids:
        """The ids of all visible chunks of a recipe, ascending."""
        return self.chunks_of_indexed(recipe_id, "1", [])

    def chunks_of_indexed(self, recipe_id: int, condition: str, parameters: list[Any]) -> Ids:
        """The ids of a recipe's visible chunks, ascending, of the documents that meet a condition over ``indexed i``.

        A document's chunks nearly always follow each other, so it is their first and last that are asked for: a
        million ids as a million rows would take a second.
        """
        source = (
            "FROM indexed i CROSS JOIN chunks c ON c.document_id = i.document_id AND c.recipe_id = i.recipe_id "
            f"WHERE i.recipe_id = ? AND {condition}"
        )
        rows = self._connections.rows(
            f"SELECT min(c.id), max(c.id), count(*), i.document_id {source} GROUP BY i.document_id",
            [recipe_id, *parameters],
        )
        return self.spread_out(recipe_id, rows)

    def spread_out(self, recipe_id: int, rows: Iterable[Sequence[Any]]) -> Ids:
        """The chunk ids of documents, ascending, from the first and last of each, their number, and the document."""
        found = [np.empty(0, dtype=np.int64)]
        for first, last, count, document_id in rows:
            if first is not None and last is not None and last - first + 1 == count:
                found.append(np.arange(first, last + 1))
            else:
                sql = "SELECT id FROM chunks WHERE document_id = ? AND recipe_id = ?"
                found.append(to_ids(self._connections.rows(sql, [document_id, recipe_id])))
        ids = np.concatenate(found)
        return ids if bool(np.all(ids[1:] > ids[:-1])) else np.sort(ids)

    @property
    def identity(self) -> str:
        """Which library this is: a copy that was restored is another one."""
        return str(self.meta_get("identity"))

    def meta_get(self, key: str) -> Any:
        """A small derived value that was kept under a key, or None."""
        text = self._connections.value("SELECT value FROM meta WHERE key = ?", [f"value:{key}"])
        return None if text is None else json.loads(text)
