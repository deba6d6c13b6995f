"""longdoc's engine: read, chunk, encode, store, search and compare long documents on an ordinary CPU.

Everything public is named in ``__all__`` and loaded when it is first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the same names for type checkers, which cannot follow __getattr__; tests/test_init.py compares
    from indexer.clusters import (
        Assignment as Assignment,
        ChunkTopic as ChunkTopic,
        Classification as Classification,
        ClassifyOptions as ClassifyOptions,
        Cluster as Cluster,
        Clustering as Clustering,
        ClusterOptions as ClusterOptions,
        Growth as Growth,
        LabelBox as LabelBox,
        MapPoint as MapPoint,
        Topic as Topic,
        chunk_topics as chunk_topics,
        classify as classify,
        cluster_documents as cluster_documents,
        growth as growth,
        label_spots as label_spots,
        load_clusters as load_clusters,
        plot as plot,
        rename_cluster as rename_cluster,
        subclusters as subclusters,
    )
    from indexer.datatypes import (
        Chunk as Chunk,
        Document as Document,
        Encoder as Encoder,
        FileReport as FileReport,
        Heading as Heading,
        Hit as Hit,
        Mode as Mode,
        Page as Page,
        Recipe as Recipe,
        Rectangle as Rectangle,
        RunReport as RunReport,
        SearchResult as SearchResult,
        Span as Span,
        Status as Status,
        StoredDocument as StoredDocument,
    )
    from indexer.doctor import (
        Finding as Finding,
        diagnose as diagnose,
    )
    from indexer.duplicates import (
        Boilerplate as Boilerplate,
        ChunkMatch as ChunkMatch,
        Comparison as Comparison,
        Difference as Difference,
        DuplicateOptions as DuplicateOptions,
        DuplicateReport as DuplicateReport,
        Fact as Fact,
        Group as Group,
        Overlap as Overlap,
        Pair as Pair,
        Relation as Relation,
        compare as compare,
        find_duplicates as find_duplicates,
        overlap_of as overlap_of,
        write_csv as write_csv,
    )
    from indexer.errors import (
        LibraryLockedError as LibraryLockedError,
        LibraryNotFoundError as LibraryNotFoundError,
        LongdocError as LongdocError,
        PageError as PageError,
    )
    from indexer.evaluate import (
        EvaluateOptions as EvaluateOptions,
        Evaluation as Evaluation,
        evaluate_folder as evaluate_folder,
    )
    from indexer.ingest import (
        AddOptions as AddOptions,
        Listener as Listener,
        Progress as Progress,
        add as add,
        remove as remove,
        sync as sync,
        watch as watch,
    )
    from indexer.library import (
        Library as Library,
    )
    from indexer.lock import Holder as Holder
    from indexer.parse.options import (
        ReadOptions as ReadOptions,
    )
    from indexer.parse.registry import readable_suffixes as readable_suffixes
    from indexer.parse.viewing import (
        locate_text as locate_text,
        render_page as render_page,
    )
    from indexer.passwords import (
        Role as Role,
        load_passwords as load_passwords,
        password_matches as password_matches,
        store_password as store_password,
    )
    from indexer.probe import (
        growth_picture as growth_picture,
        last_growth as last_growth,
        last_needle as last_needle,
        needle_picture as needle_picture,
    )
    from indexer.search import (
        Grouping as Grouping,
        SearchOptions as SearchOptions,
        excerpt as excerpt,
        more_like as more_like,
        neighbours as neighbours,
        search_library as search_library,
    )
    from indexer.settings import (
        Settings as Settings,
        load_settings as load_settings,
        passwords_path as passwords_path,
    )
    from indexer.store import (
        Counts as Counts,
        Source as Source,
        StoredPage as StoredPage,
        StoredRun as StoredRun,
    )
    from indexer.upkeep import (
        Verification as Verification,
        verify as verify,
    )

_HOMES: dict[str, str] = {
    "AddOptions": "ingest",
    "Assignment": "clusters",
    "Boilerplate": "duplicates",
    "Chunk": "datatypes",
    "ChunkMatch": "duplicates",
    "ChunkTopic": "clusters",
    "Classification": "clusters",
    "ClassifyOptions": "clusters",
    "Cluster": "clusters",
    "ClusterOptions": "clusters",
    "Clustering": "clusters",
    "Comparison": "duplicates",
    "Counts": "store",
    "Difference": "duplicates",
    "Document": "datatypes",
    "DuplicateOptions": "duplicates",
    "DuplicateReport": "duplicates",
    "Encoder": "datatypes",
    "EvaluateOptions": "evaluate",
    "Evaluation": "evaluate",
    "Fact": "duplicates",
    "FileReport": "datatypes",
    "Finding": "doctor",
    "Group": "duplicates",
    "Grouping": "search",
    "Growth": "clusters",
    "Heading": "datatypes",
    "Hit": "datatypes",
    "Holder": "lock",
    "LabelBox": "clusters",
    "Library": "library",
    "LibraryLockedError": "errors",
    "LibraryNotFoundError": "errors",
    "Listener": "ingest",
    "LongdocError": "errors",
    "MapPoint": "clusters",
    "Mode": "datatypes",
    "Overlap": "duplicates",
    "Page": "datatypes",
    "PageError": "errors",
    "Pair": "duplicates",
    "Progress": "ingest",
    "ReadOptions": "parse.options",
    "Recipe": "datatypes",
    "Rectangle": "datatypes",
    "Relation": "duplicates",
    "Role": "passwords",
    "RunReport": "datatypes",
    "SearchOptions": "search",
    "SearchResult": "datatypes",
    "Settings": "settings",
    "Source": "store",
    "Span": "datatypes",
    "Status": "datatypes",
    "StoredDocument": "datatypes",
    "StoredPage": "store",
    "StoredRun": "store",
    "Topic": "clusters",
    "Verification": "upkeep",
    "add": "ingest",
    "chunk_topics": "clusters",
    "classify": "clusters",
    "cluster_documents": "clusters",
    "compare": "duplicates",
    "diagnose": "doctor",
    "evaluate_folder": "evaluate",
    "find_duplicates": "duplicates",
    "growth": "clusters",
    "growth_picture": "probe",
    "label_spots": "clusters",
    "last_growth": "probe",
    "last_needle": "probe",
    "load_clusters": "clusters",
    "load_passwords": "passwords",
    "load_settings": "settings",
    "locate_text": "parse.viewing",
    "excerpt": "search",
    "more_like": "search",
    "needle_picture": "probe",
    "neighbours": "search",
    "overlap_of": "duplicates",
    "password_matches": "passwords",
    "passwords_path": "settings",
    "plot": "clusters",
    "readable_suffixes": "parse.registry",
    "remove": "ingest",
    "rename_cluster": "clusters",
    "render_page": "parse.viewing",
    "search_library": "search",
    "store_password": "passwords",
    "subclusters": "clusters",
    "sync": "ingest",
    "verify": "upkeep",
    "watch": "ingest",
    "write_csv": "duplicates",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
