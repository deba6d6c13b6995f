"""The results of a search as a person reads them, a page at a time."""

from __future__ import annotations

import csv
import io
import json
import re

import streamlit as st

from app import address, components, links, recent, services
from app.components import html, say
from app.markup import escaped, label, marked
from app.messages import engine
from app.services import PAGE_SIZE, Question
from indexer import Hit, SearchResult

_CSV_COLUMNS = ("rank", "score", "document", "title", "paths", "page", "start", "end", "headings", "text")
_NEWEST = 5
_PARAGRAPH = re.compile(r"\n\s*\n")
_LEADERS = re.compile(r"(?:\. ?){6,}|…{3,}|·{6,}")
"""The dots that lead from a heading to its page number in a table of contents."""
_NOTHING = "Nothing relevant was found."


def welcome() -> None:
    """What stands over the box before anything was asked."""
    counts = services.counts()
    html(
        f'<h1 class="ld-ask">{escaped(say("search.title"))}</h1>'
        f'<p class="ld-lead">{escaped(say("search.ready", count=f"{counts.documents:,}"))}</p>'
    )


def newest() -> None:
    """The documents that came in last: something to open before anything is asked."""
    rows = "".join(
        f"<li>{links.link(components.title(document), links.address('document', {'id': document.id}))}</li>"
        for document in services.newest(_NEWEST)
    )
    if rows:
        html(f'<h2 class="ld-quiet-h">{escaped(say("search.newest"))}</h2><ul class="ld-new">{rows}</ul>')


def last_searches() -> None:
    """What was looked for before, to look for again."""
    last = recent.searches()
    if last:
        with st.container(horizontal=True, key="recent", vertical_alignment="center"):
            components.note(say("search.recent"))
            for position, text in enumerate(last):
                st.button(
                    label(text, 60), key=f"recent_{position}", type="tertiary", on_click=address.put, args=("q", text)
                )
            st.button(
                say("search.forget"), icon=":material/history_toggle_off:", type="tertiary", on_click=recent.forget
            )


def show(found: SearchResult, question: Question, order: str) -> None:
    """The warnings, the count, one page of hits and the way to the others."""
    for warning in found.warnings:
        if found.hits or warning != _NOTHING:  # without hits the heading says the same
            components.warning(engine(warning))
    if not found.hits:
        _nothing(found, question)
        return
    hits = ordered(found.hits, order)
    pages = -(-len(hits) // PAGE_SIZE)
    page = min(max(address.number("p", 1) or 1, 1), pages)
    _summary(found)
    for hit in hits[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]:
        hit_card(hit, question)
    if pages > 1:
        components.pager(page, pages)


def _nothing(found: SearchResult, question: Question) -> None:
    """Nothing was found: say so, and what else to try."""
    html(f"<h2>{escaped(say('search.nothing', query=question.text[:200]))}</h2>")
    hints = "".join(f"<li>{escaped(engine(hint))}</li>" for hint in found.suggestions)
    if hints:
        html(f'<ul class="ld-names">{hints}</ul>')
    else:
        components.lead(say("search.nothing_help"))


def ordered(hits: tuple[Hit, ...], order: str) -> list[Hit]:
    """The hits in the order that was asked for; without a date a document comes last."""
    if order == "title":
        return sorted(hits, key=lambda hit: components.title(hit.document).casefold())
    if order in ("newest", "oldest"):
        dated = [hit for hit in hits if _date(hit)]
        undated = [hit for hit in hits if not _date(hit)]
        return [*sorted(dated, key=_date, reverse=order == "newest"), *undated]
    return list(hits)


def _date(hit: Hit) -> str:
    return hit.document.created or hit.document.modified or ""


def _summary(found: SearchResult) -> None:
    count = len(found.hits)
    key = "search.found_most" if count >= services.MOST_DOCUMENTS else "search.found"
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key="summary"):
        components.note(say(key, count=count, seconds=f"{found.seconds:.2f}"))
        with st.popover(say("search.download"), icon=":material/download:", type="tertiary"):
            for name, data, mime in (("CSV", as_csv(found), "text/csv"), ("JSON", as_json(found), "application/json")):
                st.download_button(
                    name, data, f"longdoc-results.{name.lower()}", mime, on_click="ignore", width="stretch"
                )


def hit_card(hit: Hit, question: Question) -> None:
    """One result: title, where, the chunk with its marks, why, and what can be done with it."""
    with st.container(key=f"hit_{hit.rank}", gap=None):
        html(
            f"{components.document_link(hit, question.text)}"
            f'<div class="ld-where">{components.where(hit)}</div>{chunk_text(hit)}'
        )
        with st.container(horizontal=True, vertical_alignment="center", key=f"under_{hit.rank}", gap="small"):
            components.note(components.found_by(hit))
            _steering(hit)
        if hit.copies:
            titles = ", ".join(components.title(copy) for copy in hit.copies[:5])
            components.note(say("search.copies", titles=titles))
        if hit.others:
            with st.expander(say("search.others", count=len(hit.others))):
                for other in hit.others:
                    html(
                        f'<div class="ld-where">{components.place_link(other, question.text)}</div>{chunk_text(other)}'
                    )


def chunk_text(hit: Hit) -> str:
    """A hit's chunk as HTML with its marks; paragraphs stand closer than in the document, lines of dots are short."""
    shown = _PARAGRAPH.sub('<span class="ld-gap"></span>', marked(hit.text, hit.highlights, hit.sentence))
    return f'<p class="ld-text">{_LEADERS.sub("… ", shown)}</p>'


def _steering(hit: Hit) -> None:
    if st.button(say("search.more_like"), key=f"like_{hit.rank}", type="tertiary", help=say("search.more_like_help")):
        links.go(links.address("search", {"like": hit.chunk_id}))
    for name, icon in (("more", ":material/add:"), ("less", ":material/remove:")):
        chosen = address.numbers(name)
        st.button(
            say(f"search.{name}"),
            key=f"{name}_{hit.rank}",
            type="tertiary",
            icon=icon,
            help=say(f"search.{name}_help"),
            disabled=hit.chunk_id in chosen,
            on_click=_steer,
            args=(name, hit.chunk_id),
        )


def _steer(name: str, chunk: int) -> None:
    """Put a chunk on one side of the search, and take it off the other."""
    other = "less" if name == "more" else "more"
    address.put(name, ",".join(map(str, (*address.numbers(name), chunk))))
    address.put(other, ",".join(str(one) for one in address.numbers(other) if one != chunk))
    address.put("p", None)


def as_json(found: SearchResult) -> str:
    """Every hit as JSON, best first."""
    return json.dumps({"query": found.query, "hits": [_row(hit) for hit in found.hits]}, ensure_ascii=False, indent=2)


def as_csv(found: SearchResult) -> str:
    """Every hit as CSV. What a spreadsheet would take for a formula is kept from being one by an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(_CSV_COLUMNS)
    for hit in found.hits:
        row = _row(hit) | {"paths": "; ".join(hit.document.paths), "headings": " > ".join(hit.headings)}
        writer.writerow([_harmless(row[name]) for name in _CSV_COLUMNS])
    return "\ufeff" + out.getvalue().encode("utf-8", "replace").decode("utf-8")


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell


def _row(hit: Hit) -> dict[str, object]:
    return {
        "rank": hit.rank,
        "score": round(hit.score, 4),
        "document": hit.document.id,
        "title": components.title(hit.document),
        "paths": [components.shown_path(path) for path in hit.document.paths],
        "page": hit.page_label or hit.page,
        "start": hit.span.start,
        "end": hit.span.end,
        "headings": list(hit.headings),
        "text": hit.text,
    }
