"""What stands beside a document that is being read: its places, outline, relatives, ledger, and its file."""

from __future__ import annotations

import streamlit as st

from app import access, address, components, links, reading, services
from app.components import html, say
from app.markup import escaped, excerpt, marked, plain
from app.messages import engine
from app.place import Place, outline, position_of
from indexer import Hit, SearchResult, Span, StoredDocument

_LISTED = 8
_SNIPPET = 150
_WEAK = 0.4
"""Places below this share of the best one's score are not worth a mark: every chunk has some score."""


def head(document: StoredDocument) -> None:
    """The title and what the document is, with the way back to the results."""
    query, search = address.get("q"), address.get("from")
    back = links.link("← " + say("document.back"), links.back_to_search(search, query), css="ld-back")
    html(
        (f'<p class="ld-where ld-up">{back}</p>' if query or search else "")
        + f'<h1 class="ld-h1">{escaped(components.title(document))}</h1><p class="ld-where">{facts(document)}</p>'
    )


def facts(document: StoredDocument) -> str:
    """HTML of one line: type, length, language, author, date, status."""
    parts = [
        components.shown("type", document.media_type),
        say("document.pages", count=document.page_count) if document.page_count else "",
        components.shown("language", document.language),
        document.author or "",
        (document.created or document.modified or "")[:10],
        say(f"status.{document.status}") if document.status != "indexed" else "",
    ]
    return '<span class="ld-sep">·</span>'.join(
        f'<span class="ld-fact-of">{escaped(part)}</span>' for part in parts if part
    )


def search_box() -> str:
    """The box that searches this document; returns what to look for, the search that led here at first."""
    key = address.line("in") if "in" in st.query_params else address.line("q")
    st.text_input(
        say("document.search"),
        key=key,
        placeholder=say("document.search"),
        icon=":material/search:",
        label_visibility="collapsed",
        on_change=_search_inside,
        args=(key,),
    )
    return address.get("in") or address.get("q")


def _search_inside(key: str) -> None:
    address.put("in", st.session_state[key].strip() or None)
    address.put("chunk", None)
    if not st.session_state[key].strip():
        address.put("q", None)


def places(place: Place, found: SearchResult) -> None:
    """The strip along the document, and the list of the best matches."""
    best = max((hit.score for hit in found.hits), default=1.0)
    hits = [hit for hit in found.hits if hit.score > _WEAK * best]
    length = max(place.document.chars, 1)
    reading.strip(
        place, [(hit.span.start / length, max(hit.score / best, 0.0), hit.chunk_id, _where(hit)) for hit in hits]
    )
    if not hits:
        components.note(say("document.no_places"))
        return
    rows = "".join(_row(place, hit) for hit in hits[:_LISTED])
    html(f'<h2 class="ld-h2">{escaped(say("document.places", count=len(hits)))}</h2><ol class="ld-list">{rows}</ol>')


def _row(place: Place, hit: Hit) -> str:
    to = links.address("document", reading.stay(place) | {"chunk": hit.chunk_id})
    cut = excerpt(hit.text, hit.highlights[0].start if hit.highlights else 0, _SNIPPET)
    inside = [span for span in hit.highlights if span.start < cut.end and span.end > cut.start]
    marks = [Span(max(span.start - cut.start, 0), span.end - cut.start) for span in inside]
    lead, tail = "…" if cut.start else "", "…" if cut.end < len(hit.text) else ""
    current = ' aria-current="true"' if address.number("chunk") == hit.chunk_id else ""
    piece = f'<span class="ld-snippet">{lead}{marked(cut.of(hit.text), marks)}{tail}</span>'
    return f"<li{current}>{links.link(_where(hit), to)}{piece}</li>"


def _where(hit: Hit) -> str:
    if hit.page is not None:
        return say("search.page", page=hit.page_label or hit.page)
    if hit.headings:
        return hit.headings[-1]
    return say("document.into", share=f"{hit.span.start / max(hit.document.chars, 1) * 100:.0f}")


def contents(place: Place) -> None:
    """The headings as an outline."""
    listed = outline(services.headings(place.document.id))
    if not listed:
        return
    rows = "".join(
        f'<li class="ld-level-{min(heading.level, 4)}"'
        f"{' aria-current=true' if position_of(place.pages, heading.start) == place.position else ''}>"
        + links.link(heading.title, links.address("document", reading.stay(place) | {"at": heading.start}))
        + "</li>"
        for heading in listed
    )
    with st.expander(say("document.outline"), expanded=not address.get("q")):
        html(f'<ul class="ld-list ld-outline" tabindex="0">{rows}</ul>')


def relatives(document: StoredDocument) -> None:
    """The documents that resemble this one."""
    if not document.status.searchable:
        return
    hits = services.similar(document.id).hits
    if hits:
        rows = "".join(
            f"<li>{links.link(components.title(hit.document), links.address('document', {'id': hit.document.id}))}</li>"
            for hit in hits
        )
        with st.expander(say("document.similar")):
            html(f'<ul class="ld-list">{rows}</ul>')
            more = links.link(say("document.similar_all"), links.address("search", {"like_document": document.id}))
            html(f'<p class="ld-where">{more}</p>')


def ledger(document: StoredDocument) -> None:
    """What was read of the document and what was not."""
    rows = [
        (say("ledger.status"), say(f"status.{document.status}")),
        (say("ledger.reason"), engine(document.reason or "")),
        (say("ledger.coverage"), say("ledger.share", share=f"{document.coverage * 100:.0f}")),
        (say("ledger.unread"), ", ".join(map(str, document.unread_pages[:50]))),
        (say("ledger.size"), say("ledger.sizes", chars=f"{document.chars:,}", chunks=f"{document.chunk_count:,}")),
        (say("ledger.added"), document.added[:16].replace("T", " ")),
        (say("ledger.tags"), ", ".join(document.tags)),
        (say("ledger.remarks"), "; ".join(map(engine, (*document.outdated, *document.remarks)))),
        (say("ledger.paths"), "\n".join(components.shown_path(path) for path in document.paths)),
    ]
    shown = "".join(f"<dt>{escaped(name)}</dt><dd>{escaped(value)}</dd>" for name, value in rows if value)
    with st.expander(say("document.ledger"), expanded=not document.status.searchable):
        html(f'<dl class="ld-ledger">{shown}</dl>')


def download(document: StoredDocument) -> None:
    """The document's file, when the settings let it be taken away."""
    path = services.file_of(document)
    if path is None:
        components.note(say("document.gone"))
    elif services.settings().ui_downloads == "yes" and access.role() is not None:
        st.download_button(
            say("document.download"),
            lambda: path.read_bytes(),
            plain(path.name),
            "application/octet-stream",
            icon=":material/download:",
            on_click="ignore",
            width="stretch",
        )
