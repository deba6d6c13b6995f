"""A page's state kept in its address, so that it can be bookmarked, shared and reloaded.

The address is the only truth: each run sets the widgets from it, and a widget that changes writes it. (Streamlit's own
binding puts an option's label there, which would tie a shared address to one interface language.)
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import streamlit as st

_MANY_AT_ONCE = 50


def get(name: str, default: str = "") -> str:
    """The value of ``name`` in the address."""
    return st.query_params.get(name, default)


def number(name: str, default: int | None = None) -> int | None:
    """The value as a whole number, ``default`` when there is none."""
    value = get(name)
    return int(value) if value.isascii() and value.isdigit() and len(value) < 16 else default


def numbers(name: str) -> tuple[int, ...]:
    """The values as whole numbers; what is none is left out."""
    values = get(name).split(",")
    return tuple(int(value) for value in values[:_MANY_AT_ONCE] if value.isascii() and value.isdigit())


def values(name: str) -> list[str]:
    """Every value of ``name`` in the address."""
    return st.query_params.get_all(name)


def put(name: str, value: str | Sequence[str] | None) -> None:
    """Write a value; nothing or an empty one takes the name out of the address."""
    if value:
        st.query_params[name] = value if isinstance(value, str) else list(value)
    elif name in st.query_params:
        del st.query_params[name]


def one(name: str, options: Sequence[str], default: str) -> str:
    """A widget key for a choice of one: set from the address, where a value that is no option counts as the default."""
    value = get(name, default)
    return _set(name, value if value in options else default)


def several(name: str, options: Sequence[str]) -> str:
    """A widget key for a choice of several."""
    return _set(name, [value for value in values(name) if value in options])


def line(name: str) -> str:
    """A widget key for a line of text."""
    return _set(name, get(name))


def day(name: str) -> str:
    """A widget key for a date that may be missing."""
    try:
        return _set(name, date.fromisoformat(get(name)))
    except ValueError:
        return _set(name, None)


def store(name: str, default: str = "", *clear: str) -> None:
    """Callback of a widget: write its value to the address, and take out the names that no longer fit."""
    value = st.session_state[_key(name)]
    for other in clear:
        put(other, None)
    if isinstance(value, list | tuple):
        put(name, [str(one) for one in value])
    else:
        put(name, None if value is None or str(value) == default else str(value))


def _set(name: str, value: object) -> str:
    st.session_state[_key(name)] = value
    return _key(name)


def _key(name: str) -> str:
    return f"address.{name}"
