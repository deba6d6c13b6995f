"""One library opened: its store, its vectors caught up with the store, its encoder, and the lock of its writer."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from indexer.centring import LanguageMeans
from indexer.datatypes import Encoder, Ids, Matrix, Vector
from indexer.errors import DamagedError
from indexer.files import sweep
from indexer.lock import Holder, current_writer, network_disk, writer_lock
from indexer.recipes import check_encoder, check_settings, recipe_for
from indexer.rowfile import RowFile
from indexer.sealed import OtherFormatError
from indexer.settings import Settings
from indexer.store import Store, is_library, is_outdated
from indexer.vectors import FLAT_LIMIT, Candidates, IndexStamp, VectorIndex

logger = logging.getLogger(__name__)

MEANS_KEY = "language_means"
_MEANS_VERSION_KEY = "language_means_version"
_MIGRATION_SECONDS = 60.0
"""How long opening a library of an older longdoc waits for another process that brings it up to date."""

_CATCH_UP_ROWS = 8192
_SAVE_AT_LEAST = 2000


class Library:
    """One knowledge base on disk. Reading is safe from many threads and beside a writer in another process."""

    flat_limit = FLAT_LIMIT

    def __init__(self, directory: Path, settings: Settings, store: Store, encoder: Encoder | None = None) -> None:
        self.directory = directory
        self.settings = settings
        self.store = store
        self._encoder = encoder
        self._vectors: VectorIndex | None = None
        self._row_file: RowFile | None = None
        self._means: LanguageMeans | None = None
        self._lock = threading.RLock()
        self._encoder_lock = threading.Lock()
        if encoder is not None:
            check_encoder(encoder, store.recipe)

    @classmethod
    def open(
        cls,
        directory: Path,
        settings: Settings,
        *,
        create: bool = False,
        write: bool = False,
        encoder: Encoder | None = None,
        any_recipe: bool = False,
    ) -> Library:
        """Open a library, or make it when ``create`` is set and there is none.

        Opened for writing, it refuses settings that ask for another encoder or other chunking than it was built with
        (RecipeMismatchError), unless ``any_recipe`` is set; read, it uses what it was built with. Raises
        LibraryNotFoundError when there is none.
        """
        if write or create:
            _warn_of_network_disk(directory)
        if create and not is_library(directory):
            store = Store.create(directory, recipe_for(settings, encoder))
            return cls(directory, settings, store, encoder)
        if is_outdated(directory):
            with writer_lock(directory, _MIGRATION_SECONDS):
                Store.open(directory).close()
        store = Store.open(directory, readonly=not write)
        if write and not any_recipe:
            check_settings(settings, store.recipe)
        return cls(directory, settings, store, encoder)

    def close(self) -> None:
        """Save the vector index when it has caught up with much, and close the store."""
        if self._vectors is not None and self._vectors.unsaved > max(0, min(_SAVE_AT_LEAST, len(self._vectors) // 50)):
            self._save_vectors(self._vectors)
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def encoder(self) -> Encoder:
        """The encoder the library was built with, loaded when it is first needed.

        Raises RecipeMismatchError when what is found under its name has other weights.
        """
        with self._encoder_lock:
            recipe = self.store.recipe
            if self._encoder is None or self._encoder.fingerprint != recipe.fingerprint:
                from indexer.encode import load_encoder

                encoder = load_encoder(recipe.encoder, settings=self.settings)
                check_encoder(encoder, recipe)
                self._encoder = encoder
            return self._encoder

    @property
    def means(self) -> LanguageMeans:
        """The language means that embeddings are centred by, as last kept with ``keep_means``."""
        with self._lock:
            self._refresh_means()
            assert self._means is not None
            return self._means

    def keep_means(self, means: LanguageMeans) -> None:
        """Centre by these means from now on; needs the writer lock. The vector index follows at its next use."""
        self.store.meta_set(MEANS_KEY, means.to_json())
        self.store.meta_set(_MEANS_VERSION_KEY, {"version": means.version, "recipe": self.store.recipe_id})

    @property
    def vectors(self) -> VectorIndex:
        """The vector index, read from its file when first asked for and caught up with the store each time."""
        with self._lock:
            self.refresh()
            assert self._vectors is not None
            return self._vectors

    def refresh(self) -> bool:
        """Catch the vector index up with what other processes changed; True when something had changed."""
        with self._lock:
            with self.store.snapshot():
                wanted = self.stamp()
                index = self._vectors or self._load_vectors(wanted)
                changed = index.stamp != wanted
                if changed:
                    index = self._caught_up(index, wanted)
                self._row_file = None if index.exact else self.row_file(wanted)
            self._vectors = index
            if index.unsaved > max(_SAVE_AT_LEAST, len(index) // 20):
                self._save_vectors(index)
            return changed

    def search_vectors(self, queries: Matrix, k: int, allowed: Ids | None = None) -> Candidates:
        """The ``k`` nearest chunks of each query row (centred as ``means`` centres queries), best first."""
        with self.store.snapshot():  # what a writer removes meanwhile is there until the search is done
            return self.vectors.search(queries, k, allowed)

    def similarities(self, query: Vector, chunk_ids: Ids) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        """The cosine of a (centred) query to each of the chunks, in order."""
        return np.asarray(self.rows(chunk_ids) @ query, dtype=np.float32)

    def rows(self, chunk_ids: Ids) -> Matrix:
        """The centred embeddings of chunks, a row for each id in order.

        Once the library is large they are read from a file beside the index, which takes what it lacks from the store.
        """
        kept = self._row_file
        if kept is None:
            return self._stored_rows(chunk_ids)
        chunk_ids = np.asarray(chunk_ids, dtype=np.int64)
        rows, there = kept.read(chunk_ids)
        if not there.all():
            rows[~there] = self._stored_rows(chunk_ids[~there])
            self._keep_rows(kept, chunk_ids[~there], rows[~there])
        return rows

    def _stored_rows(self, chunk_ids: Ids) -> Matrix:
        matrix, languages = self.store.embeddings_and_languages(chunk_ids)
        return (self._means or self.means).centre_documents(matrix, languages)

    def _keep_rows(self, file: RowFile, chunk_ids: Ids, rows: Matrix | None) -> None:
        """Write rows (None: that there are none) to the file beside the index, where that is possible."""
        try:
            file.write(chunk_ids, rows)
        except OSError as error:
            # The file is derived: what it lacks is read from the store.
            logger.info("Embeddings could not be written beside the vector index (%s).", error)

    @property
    def writer(self) -> Holder | None:
        """Who holds the writer lock, as far as that is known; None when nobody does."""
        return current_writer(self.directory)

    def stamp(self) -> IndexStamp:
        """What a vector index made now would be made from."""
        with self._lock:
            self._refresh_means()
            assert self._means is not None
            return IndexStamp(self.store.identity, self.store.recipe_id, self._means.version, self.store.generation())

    def index_path(self, recipe_id: int | None = None) -> Path:
        """The file of the vector index of a recipe, of the one in use when none is named."""
        return self.directory / f"vectors-{recipe_id or self.store.recipe_id}.index"

    def row_file(self, stamp: IndexStamp) -> RowFile:
        """The file of centred embeddings beside an index; it may be there or not, and lack any of them."""
        seal = f"{stamp.library}/{stamp.recipe_id}/{stamp.means}"
        if self._row_file is None or self._row_file.seal != seal:
            path = self.index_path(stamp.recipe_id).with_suffix(".rows")
            return RowFile(path, self.store.recipe_of(stamp.recipe_id).dimension, seal)
        return self._row_file

    def save_vectors(self) -> None:
        """Catch the vector index up and save it where it is not saved yet."""
        with self._lock:
            index = self.vectors
            if index.unsaved:
                self._save_vectors(index)

    def rebuild_vectors(self) -> None:
        """Make the vector index anew from the store and save it."""
        with self._lock:
            drop_indexes(self.directory)
            self._vectors = None
            self._save_vectors(self.vectors)

    @contextmanager
    def write_lock(self, wait: float = 0.0) -> Iterator[None]:
        """Be the only writer inside the block, waiting up to ``wait`` seconds (negative: for ever) for another one.

        Raises LibraryLockedError, which says who writes and since when. The operating system takes the lock away from
        a process that dies; what that left half written is dropped here.
        """
        with writer_lock(self.directory, wait):
            sweep(self.directory)
            self.store.discard_unfinished()
            if not self.store.lexical_is_current():
                self.store.rebuild_lexical()
            yield

    def _refresh_means(self) -> None:
        kept = self.store.meta_get(_MEANS_VERSION_KEY)
        if kept is None or kept["recipe"] != self.store.recipe_id:
            self._means = LanguageMeans.none(self.store.recipe.dimension)
        elif self._means is None or self._means.version != kept["version"]:
            self._means = LanguageMeans.from_json(self.store.meta_get(MEANS_KEY))

    def _load_vectors(self, wanted: IndexStamp) -> VectorIndex:
        dimension = self.store.recipe.dimension
        path = self.index_path(wanted.recipe_id)
        try:
            return VectorIndex.load(path, dimension, self.rows, flat_limit=self.flat_limit)
        except FileNotFoundError:
            pass
        except OtherFormatError as error:
            logger.info("%s It is made anew from the library.", error)
        except (DamagedError, OSError) as error:
            logger.warning("%s It is made anew from the library.", error)
        return VectorIndex(dimension, self.rows, flat_limit=self.flat_limit)

    def _caught_up(self, index: VectorIndex, wanted: IndexStamp) -> VectorIndex:
        """The index with what was removed and added since its stamp, or a new one where that cannot be told."""
        old = index.stamp
        follows = (
            old is not None
            and (old.library, old.recipe_id, old.means) == (wanted.library, wanted.recipe_id, wanted.means)
            and self.store.removals_known_since() <= old.generation <= wanted.generation
        )
        file = self.row_file(wanted)
        if follows and old is not None:
            removed = self.store.removed_since(old.generation)
            index.remove(removed)
            if not index.exact:
                self._keep_rows(file, removed, None)
            added = index.missing(self.store.chunks_since(old.generation))
        else:
            index = VectorIndex(self.store.recipe.dimension, self.rows, flat_limit=self.flat_limit)
            added = self.store.chunk_ids()
        for first in range(0, len(added), _CATCH_UP_ROWS):
            some = added[first : first + _CATCH_UP_ROWS]
            rows = self._stored_rows(some)
            index.add(some, rows)
            if not index.exact:
                self._keep_rows(file, some, rows)
        index.stamp = wanted
        return index

    def _save_vectors(self, index: VectorIndex) -> None:
        if index.stamp is None or not os.access(self.directory, os.W_OK):
            return
        try:
            index.save(self.index_path(index.stamp.recipe_id))
        except OSError as error:
            # The index is derived: the next process makes up for what was not saved.
            logger.warning("The vector index could not be saved (%s); it will be caught up again.", error)


@cache
def _warn_of_network_disk(directory: Path) -> None:
    """Say once what SQLite's write-ahead log asks for: everyone who uses the file must be on one machine."""
    if (kind := network_disk(directory)) is not None:
        logger.warning(
            "The library at %s lies on a network disk (%s). Locks between machines cannot be relied on there: use it "
            "from one machine only, or keep it on a local disk and copy `longdoc backup` files to the network.",
            directory,
            kind,
        )


def drop_indexes(directory: Path, keep: Iterable[Path] = ()) -> None:
    """Delete the files derived from a library, those to ``keep`` left out; they are made anew when they are needed."""
    for path in set(directory.glob("vectors-*")) - set(keep):
        path.unlink(missing_ok=True)
