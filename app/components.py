"""What the pages are made of: hits, documents, notices and empty states as Streamlit elements."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from app import address, links, texts
from app.markup import escaped, plain
from indexer import Hit, StoredDocument

STYLE = Path(__file__).with_name("style.css")
ICON = str(Path(__file__).with_name("icon.svg"))


def language() -> texts.Language:
    """The language of this session: the one in the address, else the one before, else the browser's."""
    chosen = st.query_params.get("lang") or st.session_state.get("language")
    if chosen in set(texts.Language):
        st.session_state["language"] = chosen
        return texts.Language(chosen)
    return texts.Language.best_for(st.context.locale)


def say(key: str, **values: object) -> str:
    """The sentence ``key`` in this session's language."""
    return texts.text(key, language(), **values)


def style() -> None:
    """The style sheet that every page shares."""
    st.html(STYLE)


def html(markup: str) -> None:
    """Show markup of our own making; every piece of a document in it went through `app.markup`."""
    st.html(markup)


def note(sentence: str) -> None:
    """A quiet line of text, shown exactly as it is."""
    html(quiet(sentence))


def lead(sentence: str) -> None:
    """A sentence that says what a page is for, shown exactly as it is."""
    html(f'<p class="ld-lead">{escaped(sentence)}</p>')


def quiet(sentence: str) -> str:
    """HTML of a quiet line of text."""
    return f'<p class="ld-note">{escaped(sentence)}</p>'


def section(title: str, body: str) -> None:
    """A heading with HTML of our own making below it."""
    html(f'<section class="ld-section"><h2 class="ld-h2">{escaped(title)}</h2>{body}</section>')


def definitions(rows: Sequence[tuple[str, str]], css: str = "ld-ledger") -> str:
    """HTML of names with their values, both shown as text; a name without a value is left out."""
    shown = "".join(f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in rows if value)
    return f'<dl class="{css}">{shown}</dl>'


def moment(stamp: str) -> str:
    """A moment of the records (ISO 8601) on the clock of whoever looks at the page."""
    try:
        zone = ZoneInfo(st.context.timezone) if st.context.timezone else None
        return datetime.fromisoformat(stamp).astimezone(zone).strftime("%Y-%m-%d %H:%M")
    except (ValueError, ZoneInfoNotFoundError):
        return stamp[:16].replace("T", " ")


def problem(title: str, sentence: str) -> None:
    """The state of a page that cannot be shown: what happened and what to do, as plain text."""
    with st.container(border=True):
        html(f'<h2 class="ld-problem" role="alert">{escaped(title)}</h2><p class="ld-lead">{escaped(sentence)}</p>')


def library_is_empty(*, here: bool = False) -> None:
    """The empty state that teaches how documents get in; ``here`` is the page where they do."""
    with st.container(border=True):
        html(f'<h2>{escaped(say("empty.title"))}</h2><p class="ld-lead">{escaped(say("empty.lead"))}</p>')
        if not here:
            to = links.link(say("empty.open"), links.address("library", {}), css="ld-button")
            html(f'<p class="ld-body">{escaped(say("empty.here"))}</p><p>{to}</p>')
        st.write(say("empty.how"))
        st.code("longdoc add ~/Documents", language="bash")
        st.write(say("empty.sync"))


def where(hit: Hit) -> str:
    """HTML that says where in its document a hit stands: headings, then the page by its label."""
    own = title(hit.document)
    parts = [escaped(heading) for position, heading in enumerate(hit.headings) if position or heading != own]
    if hit.page is not None:
        parts.append(escaped(say("search.page", page=hit.page_label or hit.page)))
    return '<span class="ld-sep">›</span>'.join(parts)


def found_by(hit: Hit) -> str:
    """Which side of the search found the hit."""
    dense, lexical = hit.why.dense is not None and hit.why.dense > 0, bool(hit.why.lexical)
    return say("search.by_both" if dense and lexical else "search.by_words" if lexical else "search.by_meaning")


def title(document: StoredDocument) -> str:
    """What a document is called, as text that can be shown."""
    return shown_path(document.display_title)


def document_link(hit: Hit, query: str) -> str:
    """HTML of the title of a hit's document, leading to the hit's place in it."""
    return f'<h2 class="ld-title">{links.link(title(hit.document), address_of(hit, query))}</h2>'


def place_link(hit: Hit, query: str) -> str:
    """HTML that says where another hit of the same document stands, leading there."""
    page = say("search.page", page=hit.page_label or hit.page) if hit.page is not None else ""
    text = " › ".join([*hit.headings[-1:], *([page] if page else [])]) or say("search.open")
    return links.link(text, address_of(hit, query))


def address_of(hit: Hit, query: str) -> str:
    """The address of a hit's place on the document page, which knows the way back to the search."""
    there: links.Parameters = {
        "id": hit.document.id,
        "chunk": hit.chunk_id,
        "q": query,
        "from": links.this_search(),
    }
    return links.address("document", there)


def shown_path(path: str) -> str:
    """A path as text: bytes that are not UTF-8 are shown escaped."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def warning(sentence: str) -> None:
    """Something the person should know about what they see, shown as plain text."""
    html(f'<p class="ld-warning" role="status">{escaped(sentence)}</p>')


def shown(name: str, value: str) -> str:
    """A filter's value as people say it; values that come from documents are shown as text."""
    if name == "status":
        return say(f"status.{value}")
    if name == "language":
        return say(f"language.{value}") if f"language.{value}" in texts.TEXTS else plain(value)
    if name == "type":
        return say(f"type.{value}") if f"type.{value}" in texts.TEXTS else plain(value)
    return plain(value)


def pager(page: int, pages: int) -> None:
    """The way to the pages of results before and after this one."""
    with st.container(horizontal=True, horizontal_alignment="center", vertical_alignment="center", key="pager"):
        for name, target, icon, side in (
            ("previous", page - 1, ":material/arrow_back:", "left"),
            ("next", page + 1, ":material/arrow_forward:", "right"),
        ):
            if name == "next":
                note(say("pager.where", page=page, pages=pages))
            st.button(
                say(f"pager.{name}"),
                key=f"pager_{name}",
                icon=icon,
                icon_position="left" if side == "left" else "right",
                disabled=not 1 <= target <= pages,
                on_click=address.put,
                args=("p", str(target)),
            )
