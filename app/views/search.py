"""The start page: one box, and the results as one would want to read them."""

import streamlit as st

from app import components, recent, results, search_form, services


def show() -> None:
    """Read the form, ask, and show what was found."""
    if services.empty():
        components.library_is_empty()
        return
    if not search_form.read().asked:
        results.welcome()
    question, order = search_form.show()
    if not question.asked:
        results.last_searches()
        results.newest()
        return
    recent.note(question.text)
    found = services.ask(question)
    results.show(found, question, order)


with st.container(key="reading"):
    show()
