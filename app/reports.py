"""What jobs, probes and the doctor found, as the pages show it: duplicates, clusters, runs, measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from app import components, jobs, pictures, services
from indexer import (
    Boilerplate,
    Clustering,
    Comparison,
    Finding,
    Group,
    Growth,
    Pair,
    Relation,
    StoredDocument,
    StoredRun,
    compare,
    diagnose,
    growth,
    growth_picture,
    last_growth,
    last_needle,
    load_clusters,
    needle_picture,
    subclusters,
)


@dataclass(frozen=True, slots=True)
class FoundDuplicates:
    """What the last comparison of all documents found, when it was made, and whether the library has changed since."""

    groups: tuple[Group, ...]
    boilerplate: tuple[Boilerplate, ...]
    compared: int
    started: str
    stale: bool


def duplicates() -> FoundDuplicates | None:
    """What the last comparison found; None when there never was one. Documents that are gone since are left out."""
    opened = services.library()
    found = jobs.result(opened.directory, "duplicates")
    if found is None:
        return None
    job, printed = found
    generation = opened.store.generation()
    groups = _groups(str(opened.directory), generation, job.id, printed["groups"])
    boilerplate = tuple(Boilerplate(text["text"], text["documents"]) for text in printed["boilerplate"])
    stale = printed.get("generation") != generation
    return FoundDuplicates(groups, boilerplate, printed["documents"], job.started, stale)


@st.cache_resource(show_spinner=False, max_entries=4)
def _groups(directory: str, generation: int, job: str, _printed: Sequence[Mapping[str, Any]]) -> tuple[Group, ...]:
    return groups_of(_printed, {document.id: document for document in services.documents()})


def groups_of(printed: Sequence[Mapping[str, Any]], known: Mapping[int, StoredDocument]) -> tuple[Group, ...]:
    """The groups that `longdoc duplicates --json` printed, of the documents that are still known."""
    groups = []
    for one in printed:
        members = tuple(known[document["id"]] for document in one["documents"] if document["id"] in known)
        pairs = tuple(_pair(pair) for pair in one["pairs"] if pair["a"] in known and pair["b"] in known)
        if pairs or (len(members) == 1 and len(members[0].paths) > 1):
            keep, relation = one["keep"], Relation(one["relation"])
            groups.append(Group(one["id"], relation, members, pairs, one["through"], keep["id"], keep["reason"]))
    return tuple(groups)


def _pair(printed: Mapping[str, Any]) -> Pair:
    shares = (printed["similarity"], printed["share_a_in_b"], printed["share_b_in_a"], printed["in_order"])
    return Pair(printed["a"], printed["b"], Relation(printed["relation"]), *shares, printed["shared_chunks"])


def compared(a: int, b: int) -> Comparison:
    """Two documents compared. Raises DocumentNotFoundError."""
    return compare(services.library(), a, b)


def runs() -> list[StoredRun]:
    """The last runs that changed the library, oldest first."""
    return services.library().store.runs()


def unread_count() -> int:
    """Of how many documents nothing or not all could be read."""
    counted = {} if services.nothing_yet() else services.counts().by_status
    return sum(count for status, count in counted.items() if status != "indexed")


def unread() -> list[StoredDocument]:
    """The documents of which nothing could be read, the latest first."""
    return [document for document in services.documents() if not document.status.searchable]


@st.cache_resource(show_spinner=False, ttl=120)
def doctor() -> tuple[Finding, ...]:
    """What the doctor says of this machine, without the proof that takes long."""
    return diagnose(services.settings(), prove=False).findings


def growth_shown() -> str | None:
    """The curves of the last `longdoc probe growth` on this machine as a data address; None without one."""
    growth = last_growth(services.settings())
    return _picture("growth", repr(growth), lambda: growth_picture(growth)) if growth and growth.costs else None


def needle_shown() -> str | None:
    """The maps of the last `longdoc probe needle` on this machine as a data address; None without one."""
    needle = last_needle(services.settings())
    return _picture("needle", repr(needle), lambda: needle_picture(needle)) if needle and needle.results else None


@st.cache_resource(show_spinner=False, max_entries=4)
def _picture(kind: str, measured: str, _draw: Callable[[], bytes]) -> str:
    return pictures.data_address(_draw())


def inside(clustering: Clustering, number: int) -> Clustering:
    """The sub-topics of one cluster, remembered until the clusters are made anew. Raises LongdocError."""
    opened = services.library()
    with st.spinner(components.say("map.looking")):
        return _inside(str(opened.directory), opened.store.generation(), clustering.generation, number)


@st.cache_resource(show_spinner=False, max_entries=32)
def _inside(directory: str, generation: int, made: int, number: int) -> Clustering:
    return subclusters(services.library(), number)


@dataclass(frozen=True, slots=True)
class ChunkSubject:
    """What ``size`` chunks are about, and their documents, the fullest first: (id, how many of the chunks it has)."""

    label: str
    terms: tuple[str, ...]
    size: int
    documents: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class FoundSubjects:
    """What the chunks were about when that was looked for last, and whether the library has changed since."""

    subjects: tuple[ChunkSubject, ...]
    stale: bool


def chunk_subjects() -> FoundSubjects | None:
    """The topics of chunks as they were found last; None when they never were. Documents that are gone are left out."""
    opened = services.library()
    found = jobs.result(opened.directory, f"clusters {jobs.CHUNKS}")
    if found is None:
        return None
    printed = found[1]
    known = {document.id for document in services.documents()}
    subjects = tuple(
        ChunkSubject(
            one["label"],
            tuple(one["terms"]),
            one["size"],
            tuple((document["id"], document["chunks"]) for document in one["documents"] if document["id"] in known),
        )
        for one in printed["topics"]
    )
    return FoundSubjects(subjects, printed["generation"] != opened.store.generation())


def growth_of(clustering: Clustering) -> tuple[Growth, ...]:
    """How many documents of each cluster are dated in each month."""
    return growth(services.library(), clustering)


def clusters() -> Clustering | None:
    """The clusters as they were made last; None when they never were."""
    return load_clusters(services.library())
