"""The health page: the library's size and speed, what went wrong, the machine, and a check on demand."""

import streamlit as st

from app import components, reports, services, upkeep, work
from app.components import html, say
from app.markup import escaped


def show() -> None:
    """The figures at the top, then what went wrong beside what is known of the machine."""
    html(f'<h1 class="ld-h1">{escaped(say("nav.health"))}</h1>')
    if services.nothing_yet():
        components.library_is_empty()
        upkeep.machine()
        return
    upkeep.figures()
    work.panel("verify")
    left, right = st.columns(2, gap="large")
    with left:
        upkeep.throughput(reports.runs())
        upkeep.statuses()
        upkeep.problems()
        upkeep.verify()
        upkeep.sources()
    with right:
        upkeep.machine()
    upkeep.measured()


show()
