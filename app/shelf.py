"""The library as a table, and what can be done with the documents chosen in it."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

import streamlit as st

from app import access, components, links, services
from app.components import html, say
from app.markup import escaped, plain
from app.messages import engine
from indexer import LongdocError, StoredDocument

if TYPE_CHECKING:
    from streamlit.elements.lib.column_types import ColumnConfig

_ROW, _HEADER, _MOST_ROWS = 36, 36, 16


def table(documents: Sequence[StoredDocument]) -> list[StoredDocument]:
    """Filter and show the documents; returns those that are chosen."""
    shown = _filtered(documents)
    if not shown:
        components.note(say("library.none_match"))
        return []
    part = {"shown": f"{len(shown):,}", "total": f"{len(documents):,}"}
    components.note(say("library.part", **part) if len(shown) < len(documents) else say("map.size", count=len(shown)))
    columns: dict[str, Sequence[object]] = {
        say("column.title"): [plain(components.title(document)) for document in shown],
        say("column.status"): [say(f"status.{document.status}") for document in shown],
        say("column.type"): [components.shown("type", document.media_type) for document in shown],
        say("column.language"): [components.shown("language", document.language) for document in shown],
    }
    seldom: dict[str, Sequence[object]] = {
        say("column.pages"): [document.page_count for document in shown],
        say("column.coverage"): _coverage(shown),
        say("column.date"): [(document.modified or document.created or "")[:10] for document in shown],
        say("column.tags"): [list(document.tags) for document in shown],
        say("column.reason"): [plain(engine(document.reason or "")) for document in shown],
    }
    event = st.dataframe(
        columns | {name: values for name, values in seldom.items() if any(values)},
        key=f"shelf_{_mark(shown)}",
        hide_index=True,
        on_select="rerun",
        selection_mode=["multi-row", "single-cell"],
        height=_HEADER + _ROW * min(len(shown), _MOST_ROWS) + 2,
        row_height=_ROW,
        placeholder="",
        alt=say("library.table", count=len(shown)),
        column_config=_column_looks(),
    )
    chosen = event.selection if hasattr(event, "selection") else {"rows": [], "cells": []}
    for row, column in chosen["cells"]:
        if column == say("column.title") and row < len(shown):
            links.go(links.address("document", {"id": shown[row].id}))
    return [shown[row] for row in chosen["rows"] if row < len(shown)]


def _column_looks() -> dict[str, ColumnConfig]:
    """How each column is shown: narrow ones are, so that the reason still fits beside them."""
    return {
        say("column.title"): st.column_config.TextColumn(width=340),
        say("column.type"): st.column_config.TextColumn(width=90),
        say("column.language"): st.column_config.TextColumn(width=80),
        say("column.pages"): st.column_config.NumberColumn(width=60),
        say("column.coverage"): st.column_config.NumberColumn(format="%d %%", width=70),
        say("column.date"): st.column_config.TextColumn(width=100),
        say("column.tags"): st.column_config.ListColumn(width="small"),
        say("column.reason"): st.column_config.TextColumn(width=260),
    }


def _coverage(shown: Sequence[StoredDocument]) -> list[int]:
    """The part of each document that was read, in per cent; nothing when all were read as a whole."""
    shares = [round(document.coverage * 100) if document.status.searchable else 0 for document in shown]
    return [] if all(share == 100 for share in shares) else shares


def _mark(shown: Sequence[StoredDocument]) -> str:
    """A key of these rows alone: Streamlit keeps a choice by row number, which would pass on to another document."""
    return blake2b(",".join(str(document.id) for document in shown).encode(), digest_size=8).hexdigest()


def _filtered(documents: Sequence[StoredDocument]) -> list[StoredDocument]:
    statuses = sorted({document.status.value for document in documents})
    with st.container(horizontal=True, vertical_alignment="center", key="shelf_filters"):
        wanted = st.text_input(
            say("library.filter"),
            placeholder=say("library.filter"),
            icon=":material/filter_alt:",
            key="shelf_text",
            label_visibility="collapsed",
            max_chars=200,
            width=320,
        )
        chosen: list[str] = []
        if len(statuses) > 1:
            chosen = st.pills(
                say("filter.status"),
                statuses,
                selection_mode="multi",
                key="shelf_status",
                label_visibility="collapsed",
                format_func=lambda status: say(f"status.{status}"),
            )
    words = wanted.casefold().split()
    return [
        document
        for document in documents
        if (not chosen or document.status.value in chosen) and all(word in _haystack(document) for word in words)
    ]


def _haystack(document: StoredDocument) -> str:
    return " ".join((document.title, *document.paths, *document.tags, document.author or "")).casefold()


def actions(chosen: Sequence[StoredDocument]) -> None:
    """What can be done with the chosen documents."""
    if not chosen:
        components.note(say("library.choose"))
        return
    with st.container(horizontal=True, vertical_alignment="center", key="shelf_actions"):
        components.note(say("library.chosen", count=len(chosen)))
        if len(chosen) == 1 and st.button(say("library.open"), icon=":material/article:"):
            links.go(links.address("document", {"id": chosen[0].id}))
        if st.button(say("library.search_these"), icon=":material/search:"):
            links.go(links.address("search", {"only": ",".join(str(document.id) for document in chosen[:50])}))
        if access.may_edit():
            with st.popover(say("library.tags"), icon=":material/sell:"):
                _tags(chosen)
            if st.button(say("library.remove"), icon=":material/delete:"):
                st.session_state["to_remove"] = [document.id for document in chosen]
                _dialog(say("remove.title"), chosen)


def _tags(chosen: Sequence[StoredDocument]) -> None:
    """The tags that the chosen documents share, kept as soon as one is given or taken."""
    shared = sorted(set.intersection(*(set(document.tags) for document in chosen)))
    key = f"tags_{_mark(chosen)}"
    st.multiselect(
        say("library.tags_of"),
        sorted({*services.facets().tags, *shared}),
        default=shared,
        accept_new_options=True,
        key=key,
        placeholder=say("library.tags_new"),
        on_change=_retag,
        args=(key, tuple(document.id for document in chosen), frozenset(shared)),
    )
    if problem := st.session_state.pop("tags_problem", None):
        components.warning(engine(problem))


def _retag(key: str, ids: tuple[int, ...], before: frozenset[str]) -> None:
    names = {name for tag in st.session_state[key] if (name := tag.strip()[:60])}
    try:
        services.retag(ids, added=names - before, removed=before - names)
    except LongdocError as error:
        st.session_state["tags_problem"] = str(error)


def _dialog(title: str, chosen: Sequence[StoredDocument]) -> None:
    st.dialog(title)(_confirm)(chosen)


def _confirm(chosen: Sequence[StoredDocument]) -> None:
    """Say what goes and what stays before anything is removed."""
    chunks = sum(document.chunk_count for document in chosen)
    names = "".join(f"<li>{escaped(components.title(document))}</li>" for document in chosen[:8])
    more = f"<li>{escaped(say('remove.more', count=len(chosen) - 8))}</li>" if len(chosen) > 8 else ""
    html(
        f'<p class="ld-body">{escaped(say("remove.what", count=len(chosen), chunks=f"{chunks:,}"))}</p>'
        f'<ul class="ld-names">{names}{more}</ul><p class="ld-body">{escaped(say("remove.stays"))}</p>'
    )
    with st.container(horizontal=True):
        if st.button(say("remove.yes", count=len(chosen)), type="primary"):
            _attempt(lambda: services.remove_documents([document.id for document in chosen]))
        if st.button(say("remove.no")):
            st.rerun()


def _attempt(change: object) -> None:
    """Make a change and show the page anew; what keeps it from being made is said in place."""
    assert callable(change)
    try:
        change()
    except LongdocError as error:
        components.warning(engine(str(error)))
    else:
        st.rerun()
