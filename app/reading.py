"""A document as it is read: the page as a picture with its marks, or the text, and how to move through it."""

from __future__ import annotations

import streamlit as st

from app import address, components, links, pictures, services
from app.components import html, say
from app.markup import escaped, marked
from app.messages import engine
from app.place import Place
from indexer import PageError

_SCROLL = """{
  const mark = document.querySelector('.ld-rect, .ld-article .ld-best, .ld-at');
  const frame = mark?.closest('.ld-desk, .ld-article');
  if (frame) {
    const above = mark.getBoundingClientRect().top - frame.getBoundingClientRect().top;
    frame.scrollTop += above - frame.clientHeight / 3;
  }
}"""


def show(place: Place) -> None:
    """The toolbar and the page."""
    view = _toolbar(place)
    if place.page.unread:
        components.warning(say("document.unread_page", reason=engine(place.page.unread)))
    if view == "page":
        try:
            pictures.show(place)
        except PageError as error:
            components.warning(engine(str(error)))
            _text(place)
    else:
        _text(place)
    _scroll(place)


def _toolbar(place: Place) -> str:
    last = len(place.pages)
    if last == 1 and not pictures.can_show(place):
        return "text"
    with st.container(horizontal=True, vertical_alignment="center", key="toolbar", gap="small"):
        for name, icon, target in (
            ("previous", "chevron_left", place.position),
            ("next", "chevron_right", place.position + 2),
        ):
            st.button(
                say(f"document.{name}"),
                icon=f":material/{icon}:",
                key=f"turn_{name}",
                on_click=_turn,
                args=(target,),
                disabled=not 1 <= target <= last,
                type="tertiary",
                help=say(f"document.{name}"),
            )
        st.session_state["page_number"] = place.position + 1
        st.number_input(
            say("document.page" if place.paged else "document.part"),
            1,
            last,
            key="page_number",
            step=1,
            width=110,
            on_change=_typed,
            label_visibility="collapsed",
        )
        label = place.page.label
        known = say("document.printed", label=label) if label and label != str(place.page.number) else ""
        components.note(say("document.of_pages" if place.paged else "document.of_parts", count=last) + known)
        return _view() if pictures.can_show(place) else "text"


def _view() -> str:
    """How a PDF's page is shown, and how large."""
    views = ("page", "text")
    view = st.segmented_control(
        say("document.view"),
        views,
        format_func=lambda kind: say(f"document.as_{kind}"),
        required=True,
        key=address.one("view", views, "page"),
        on_change=address.store,
        args=("view", "page"),
        label_visibility="collapsed",
    )
    st.selectbox(
        say("document.zoom"),
        pictures.ZOOMS,
        key=address.one("zoom", pictures.ZOOMS, "100"),
        format_func=lambda zoom: f"{zoom} %",
        on_change=address.store,
        args=("zoom", "100"),
        label_visibility="collapsed",
        width=105,
    )
    return view or "page"


def _turn(number: int) -> None:
    address.put("page", str(number))
    address.put("at", None)


def _typed() -> None:
    _turn(int(st.session_state["page_number"]))


def _text(place: Place) -> None:
    text = services.text(place.document.id, place.page.span)
    body = marked(text, place.marks_here(), place.chunk_here() or place.line_here(text))
    if not body:
        components.note(say("document.no_text_here"))
        return
    name = escaped(components.title(place.document))
    html(f'<article class="ld-text ld-article" tabindex="0" aria-label="{name}">{body}</article>')


def _scroll(place: Place) -> None:
    """Bring the chunk (or the place named in the address) into view, once for each address.

    Only the text or the page moves in its frame: the title and the way back stay where they are.
    """
    if place.chunk is None and address.number("at") is None:
        return
    stamp = f"{place.document.id}-{address.get('chunk')}-{address.get('at')}-{place.position}"
    st.html(
        f"<script data-for='{escaped(stamp)}'>{_SCROLL}</script>",
        unsafe_allow_javascript=True,
    )


def strip(place: Place, places: list[tuple[float, float, int, str]]) -> None:
    """The document's length with a mark at each place that matches: (where 0 to 1, strength 0 to 1, chunk, name)."""
    marks = "".join(
        links.link(
            "",
            links.address("document", stay(place) | {"chunk": chunk}),
            css="ld-tick",
            title=where,
            style=f"left:{at * 100:.2f}%;opacity:{0.35 + 0.65 * strength:.2f}",
        )
        for at, strength, chunk, where in places
    )
    start = place.page.span.start / max(place.document.chars, 1) * 100
    width = max(len(place.page.span) / max(place.document.chars, 1) * 100, 0.4)
    here = f'<div class="ld-here" style="left:{start:.2f}%;width:{width:.2f}%"></div>'
    html(f'<nav class="ld-strip" aria-label="{escaped(say("document.strip"))}">{here}{marks}</nav>')


def stay(place: Place) -> dict[str, str | int | None]:
    """What a link to another place in the same document keeps."""
    return {"id": place.document.id} | {name: address.get(name) for name in ("q", "from", "in", "view", "zoom")}
