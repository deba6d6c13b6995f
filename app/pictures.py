"""A PDF's page, or a scan, as a picture with the chunk and the words marked on it."""

from __future__ import annotations

import base64
from pathlib import Path

import streamlit as st

from app import address, components
from app.components import html, say
from app.markup import escaped
from app.place import Place
from indexer import Rectangle, Span, StoredPage, locate_text, render_page

ZOOMS = ("100", "125", "150", "200")
_PIXELS = 1.6
"""Pixels a point at 100 %: sharp at the reading column's width."""
_MOST_WORDS = 60


def can_show(place: Place) -> bool:
    """Whether the document's pages can be drawn: a PDF or picture that still lies where it was read."""
    drawn = place.document.media_type == "application/pdf" or place.document.media_type.startswith("image/")
    return place.paged and drawn and place.path is not None


def show(place: Place) -> None:
    """Draw the page. Raises PageError when that cannot be done."""
    assert place.path is not None
    zoom = int(address.get("zoom")) if address.get("zoom") in ZOOMS else 100
    changed = place.path.stat().st_mtime_ns
    image = page_image(place.path, changed, place.page.number or 1, _PIXELS * zoom / 100)
    chunk = place.chunk_here()
    boxes = [_box(one, "ld-rect") for one in _find(place.path, changed, place.page, chunk)] if chunk else []
    for span in place.marks_here()[:_MOST_WORDS]:
        boxes += [_box(one, "ld-word") for one in _find(place.path, changed, place.page, span)]
    label = place.page.label or place.page.number
    name = escaped(say("document.picture", page=label, title=components.title(place.document)))
    html(
        f'<div class="ld-desk" tabindex="0" role="group" aria-label="{name}">'
        f'<div class="ld-sheet" style="width:{zoom}%"><img src="{image}" alt="{name}">{"".join(boxes)}</div></div>'
    )


@st.cache_resource(show_spinner=False, max_entries=48)
def page_image(path: Path, changed: int, number: int, scale: float) -> str:
    """A page as a data address of a PNG; kept, since people turn pages back and forth."""
    return data_address(render_page(path, number, scale))


@st.cache_resource(show_spinner=False, max_entries=2000)
def _locate(path: Path, changed: int, number: int, start: int, end: int) -> tuple[Rectangle, ...]:
    return locate_text(path, number, Span(start, end))


def _find(path: Path, changed: int, page: StoredPage, span: Span) -> tuple[Rectangle, ...]:
    """Where a span of the page's text, counted from its start, stands on the page."""
    original = page.offsets.to_original(span)
    return _locate(path, changed, page.number or 1, original.start, original.end) if len(original) else ()


def _box(rectangle: Rectangle, css: str) -> str:
    left, top = rectangle.left * 100, rectangle.top * 100
    width, height = (rectangle.right - rectangle.left) * 100, (rectangle.bottom - rectangle.top) * 100
    return f'<div class="{css}" style="left:{left:.2f}%;top:{top:.2f}%;width:{width:.2f}%;height:{height:.2f}%"></div>'


def data_address(png: bytes) -> str:
    """A PNG as an address that holds the picture itself."""
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
