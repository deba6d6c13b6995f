"""The document page: the place that was found, on its page, with everything around it."""

import streamlit as st

from app import about, address, components, place, reading, services
from app.components import say
from app.messages import engine


def show(number: int) -> None:
    """Read the address, ask for the places that match, and show the page beside what is known of the document."""
    document = services.document(number)
    about.head(document)
    left, right = st.columns([7, 3], gap="large")
    with right:
        query = about.search_box()
        found = services.within(document.id, query) if query and document.status.searchable else None
        here = place.read(document, found)
        if here and found:
            about.places(here, found)
        if here:
            about.contents(here)
        about.relatives(document)
        about.ledger(document)
        about.download(document)
    with left:
        if here:
            reading.show(here)
        else:
            components.problem(say("document.no_text"), engine(document.reason or "") or say("document.no_text_why"))


chosen = address.number("id")
if chosen is None:
    components.problem(say("document.none"), say("document.none_why"))
else:
    show(chosen)
