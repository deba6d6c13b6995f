"""The box of the search page and everything that narrows a search, all of it kept in the address."""

from __future__ import annotations

import streamlit as st

from app import address, components, services
from app.components import say
from app.services import Question
from indexer import Mode

FILTERS = ("type", "language", "tag", "status", "source", "after", "before", "cluster")
ORDERS = ("best", "newest", "oldest", "title")
_NEW_SEARCH = ("p", "like", "like_document", "more", "less")


def read() -> Question:
    """The question that the address asks."""
    mode = address.get("mode", Mode.HYBRID.value)
    return Question(
        text=address.get("q"),
        mode=Mode(mode) if mode in set(Mode) else Mode.HYBRID,
        where=where(),
        like_chunk=address.number("like"),
        like_document=address.number("like_document"),
        more=address.numbers("more"),
        less=address.numbers("less"),
    )


def where() -> tuple[str, ...]:
    """The filters in the address, as the search takes them."""
    filters = [f"{name}={value}" for name in FILTERS for value in address.values(name) if value.strip()]
    return (*filters, *(f"id={number}" for number in address.numbers("only")))


def show() -> tuple[Question, str]:
    """Draw the form; returns what is asked and in which order the answer is wanted."""
    st.text_input(
        say("search.box"),
        key=address.line("q"),
        on_change=address.store,
        args=("q", "", *_NEW_SEARCH),
        placeholder=say("search.placeholder"),
        icon=":material/search:",
        label_visibility="collapsed",
        max_chars=10_000,
    )
    with st.container(horizontal=True, vertical_alignment="center", key="narrow"):
        st.segmented_control(
            say("search.mode"),
            [mode.value for mode in Mode],
            format_func=lambda mode: say(f"mode.{mode}"),
            key=address.one("mode", [mode.value for mode in Mode], Mode.HYBRID.value),
            on_change=address.store,
            args=("mode", Mode.HYBRID.value, "p"),
            required=True,
            label_visibility="collapsed",
        )
        _filters()
        order = _order()
    question = read()
    _chosen(question)
    return question, order


def _order() -> str:
    return st.selectbox(
        say("search.order"),
        ORDERS,
        format_func=lambda order: say(f"order.{order}"),
        key=address.one("order", ORDERS, ORDERS[0]),
        on_change=address.store,
        args=("order", ORDERS[0], "p"),
        label_visibility="collapsed",
        width=190,
    )


def _filters() -> None:
    facets = services.facets()
    count = sum(bool(address.values(name)) for name in FILTERS)
    name = say("filter.title") + (f" · {count}" if count else "")
    with st.popover(name, icon=":material/tune:", key="filters"):
        _choices("type", list(facets.types))
        _choices("language", list(facets.languages))
        _choices("tag", list(facets.tags))
        _choices("status", list(facets.statuses))
        _choices("source", facets.sources)
        left, right = st.columns(2)
        for column, name in ((left, "after"), (right, "before")):
            column.date_input(
                say(f"filter.{name}"),
                value=None,
                key=address.day(name),
                on_change=address.store,
                args=(name, "", "p"),
                format="YYYY-MM-DD",
            )


def _choices(name: str, options: list[str]) -> None:
    if not options:
        return
    st.multiselect(
        say(f"filter.{name}"),
        options,
        format_func=lambda option: components.shown(name, option),
        key=address.several(name, options),
        on_change=address.store,
        args=(name, "", "p"),
        placeholder=say("filter.any"),
    )


def _chosen(question: Question) -> None:
    """What steers the search beside its text, each with a button that takes it away."""
    steers = [
        ("like", question.like_chunk is not None, "search.like_chunk"),
        ("like_document", question.like_document is not None, "search.like_document"),
        ("only", bool(address.numbers("only")), "search.only"),
        ("more", bool(question.more), "search.more_chosen"),
        ("less", bool(question.less), "search.less_chosen"),
    ]
    if not any(present for _, present, _ in steers):
        return
    with st.container(horizontal=True, key="steers"):
        for name, present, key in steers:
            if present:
                count = len(address.numbers(name))
                st.button(
                    say(key, count=count),
                    icon=":material/close:",
                    icon_position="right",
                    key=f"drop_{name}",
                    on_click=address.put,
                    args=(name, None),
                    help=say("search.take_away"),
                )
