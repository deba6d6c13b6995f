"""The duplicates page: what is nearly the same, and two documents side by side."""

import streamlit as st

from app import address, components, pairs, reports, services, work
from app.components import html, say
from app.markup import escaped


def show() -> None:
    """Two documents when the address names them, else every group."""
    if services.empty():
        components.library_is_empty()
        return
    first, second = address.number("a"), address.number("b")
    if first is not None and second is not None:
        pairs.side_by_side(reports.compared(first, second))
        return
    html(f'<h1 class="ld-h1">{escaped(say("nav.duplicates"))}</h1>')
    work.panel("duplicates")
    found = reports.duplicates()
    if found is not None:
        pairs.show(found)
    else:
        components.lead(say("pairs.never"))
    work.offer("duplicates", say("pairs.again" if found else "pairs.look"), again=found is not None)


with st.container(key="reading"):
    show()
