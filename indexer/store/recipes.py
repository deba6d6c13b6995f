"""Recipes side by side: a library is built anew beside the chunks it answers from, then changed over in one step."""

from __future__ import annotations

import sqlite3

from indexer.datatypes import Ids, Recipe, Status
from indexer.errors import LibraryError
from indexer.faults import fault_point
from indexer.store.changes import bump_generation
from indexer.store.fulltext import index_text_version
from indexer.store.part import Part
from indexer.store.records import RecipeState, StoredRecipe
from indexer.store.schema import create_lexical_table, drop_lexical_table
from indexer.store.values import now, pack_recipe, to_ids, unpack_recipe
from indexer.store.writers import RecipeWriter


class Recipes(Part):
    """The recipes a library has chunks for, one of which is searched."""

    def recipes(self) -> list[StoredRecipe]:
        """Every recipe with what is built of it, oldest first."""
        rows = self._connections.rows(
            "SELECT r.*, count(i.document_id) AS documents, coalesce(sum(i.chunk_count), 0) AS chunks "
            "FROM recipes r LEFT JOIN indexed i ON i.recipe_id = r.id GROUP BY r.id ORDER BY r.id"
        )
        return [
            StoredRecipe(
                row["id"],
                unpack_recipe(row["recipe"]),
                RecipeState(row["state"]),
                row["created"],
                row["documents"],
                row["chunks"],
            )
            for row in rows
        ]

    def prepare_recipe(self, recipe: Recipe) -> int:
        """The id of this recipe, which is begun when the library does not have it yet (or goes on where it was)."""
        for stored in self.recipes():
            if stored.recipe == recipe:
                return stored.id
        with self._connections.writing() as connection:
            recipe_id = insert_recipe(connection, recipe, RecipeState.BUILDING)
            fault_point("store.recipe")
        return recipe_id

    def pending_documents(self, recipe_id: int) -> Ids:
        """The documents with text that have no chunks in a recipe yet, ascending."""
        return to_ids(
            self._connections.rows(
                "SELECT id FROM documents d WHERE visible = 1 AND status IN (?, ?) AND chars > 0 AND NOT EXISTS "
                "(SELECT 1 FROM indexed i WHERE i.recipe_id = ? AND i.document_id = d.id) ORDER BY id",
                [Status.INDEXED, Status.PARTIAL, recipe_id],
            )
        )

    def rewrite(self, document_id: int, recipe_id: int) -> RecipeWriter:
        """Begin a kept document's chunks in another recipe; what a killed run left of them is dropped."""
        with self._connections.writing() as connection:
            connection.execute(
                "DELETE FROM chunks WHERE document_id = ?1 AND recipe_id = ?2 AND NOT EXISTS "
                "(SELECT 1 FROM indexed WHERE document_id = ?1 AND recipe_id = ?2)",
                [document_id, recipe_id],
            )
        return RecipeWriter(self, document_id, recipe_id)

    def activate(self, recipe_id: int) -> None:
        """Search this recipe's chunks from now on; the one in use until now is kept to go back to.

        Raises LibraryError when it lacks documents.
        """
        if len(pending := self.pending_documents(recipe_id)):
            raise LibraryError(f"{len(pending)} documents are not in this recipe yet; run `longdoc reindex` again.")
        with self._connections.writing() as connection:
            connection.execute(
                "UPDATE recipes SET state = ? WHERE state = ?", [RecipeState.PREVIOUS, RecipeState.ACTIVE]
            )
            connection.execute("UPDATE recipes SET state = ? WHERE id = ?", [RecipeState.ACTIVE, recipe_id])
            bump_generation(connection)
            fault_point("store.activate")
        fault_point("store.activated")

    def drop_recipe(self, recipe_id: int) -> None:
        """Forget a recipe that is not in use, with its chunks. Raises LibraryError for the one in use."""
        if recipe_id == self.recipe_id:
            raise LibraryError("The recipe in use cannot be dropped.")
        with self._connections.writing() as connection:
            drop_lexical_table(connection, recipe_id)
            for table in ("chunks", "indexed", "languages", "removals"):
                connection.execute(f"DELETE FROM {table} WHERE recipe_id = ?", [recipe_id])
            connection.execute("DELETE FROM recipes WHERE id = ?", [recipe_id])
            fault_point("store.drop")


def insert_recipe(connection: sqlite3.Connection, recipe: Recipe, state: RecipeState) -> int:
    """Insert a recipe with its encoder and its full-text table, inside the caller's transaction."""
    identity = [recipe.fingerprint, recipe.document_prompt, recipe.encoder_pooling]
    connection.execute(
        "INSERT OR IGNORE INTO encoders (fingerprint, document_prompt, pooling, dimension) VALUES (?, ?, ?, ?)",
        [*identity, recipe.dimension],
    )
    (encoder_id,) = connection.execute(
        "SELECT id FROM encoders WHERE fingerprint = ? AND document_prompt = ? AND pooling = ?", identity
    ).fetchone()
    cursor = connection.execute(
        "INSERT INTO recipes (encoder_id, state, recipe, index_text_version, created) VALUES (?, ?, ?, ?, ?)",
        [encoder_id, state, pack_recipe(recipe), index_text_version(), now()],
    )
    recipe_id = int(cursor.lastrowid or 0)
    create_lexical_table(connection, recipe_id)
    return recipe_id
