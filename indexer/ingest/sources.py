"""The folders and files a library goes back to: remembering them, and taking them and their documents out again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from indexer.datatypes import FileReport, Status
from indexer.errors import DocumentNotFoundError, LongdocError
from indexer.ingest.plan import is_under
from indexer.ingest.scan import absolute
from indexer.library import Library


def remember(library: Library, paths: Sequence[str], *, wait: float = 0.0) -> None:
    """Make files and folders sources of a library without looking into them yet. Raises as ``add`` does."""
    if roots := checked_roots(library, paths):
        with library.write_lock(wait):
            make_sources(library, roots)


def remove(library: Library, names: Iterable[str], *, wait: float = 0.0) -> list[FileReport]:
    """Remove documents by id or by path (a folder's path removes all below it, and the source with it).

    A document that lies elsewhere too stays when a path is named. Files on disk are not touched. Raises
    DocumentNotFoundError, before anything is removed, for a name that fits none.
    """
    store = library.store
    with library.write_lock(wait):
        ids: dict[int, str] = {}
        paths: list[str] = []
        roots: list[str] = []
        for name in names:
            if name.isdecimal():
                document = store.documents_by_id([int(name)]).get(int(name))
                if document is None:
                    raise DocumentNotFoundError(_unknown(name))
                ids[document.id] = document.paths[0] if document.paths else document.title
                continue
            roots.append(absolute(name))
            below = [file.path for file in store.files() if is_under(file.path, roots[-1])]
            if not below and not any(source.path == roots[-1] for source in store.sources()):
                raise DocumentNotFoundError(_unknown(name))
            paths.extend(below)
        removed = {path: document_id for document_id, path in ids.items() if store.remove_document(document_id)}
        removed |= {path: gone for path in paths if (gone := store.unlink(path)) is not None}
        for source in store.sources():
            if any(is_under(source.path, root) for root in roots):
                store.remove_source(source.id)
    return [FileReport(path, Status.REMOVED, document_id=document_id) for path, document_id in removed.items()]


def checked_roots(library: Library, paths: Sequence[str]) -> list[str]:
    """The absolute paths. Raises LongdocError for one where nothing lies."""
    roots = [absolute(path) for path in paths]
    for root in roots:
        if not is_there(root):
            kept = any(is_under(file.path, root) for file in library.store.files())
            hint = " Its documents are kept; `longdoc remove` removes them." if kept else ""
            raise LongdocError(f"There is no file or folder {root}.{hint}")
    return roots


def make_sources(library: Library, roots: Iterable[str]) -> None:
    """Record roots as sources, unless they lie inside one. The caller holds the writer lock."""
    sources = [source.path for source in library.store.sources()]
    for root in roots:
        if not any(is_under(root, source) for source in sources):
            library.store.add_source(root)
            sources.append(root)


def is_there(path: str) -> bool:
    """Whether something lies at a path, be it a link that leads nowhere."""
    try:
        return Path(path).exists() or Path(path).is_symlink()
    except OSError:
        return False


def _unknown(name: str) -> str:
    return f"No document has the id or the path {name}. `longdoc list` shows them."
