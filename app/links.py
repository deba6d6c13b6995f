"""Links inside our own HTML that lead to another page of the application without loading it anew.

Each is a real link with a real address (it opens in a new tab, it can be copied, it works by keyboard); one small
component catches a plain click and hands the address to Streamlit.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qs, urlencode, urlsplit

import streamlit as st

from app.markup import escaped

Parameters = Mapping[str, str | int | list[str] | None]
"""What an address holds behind its question mark; a list is several values of one name."""

_PAGES = {"": "search", "search": "search", "document": "document", "library": "library", "duplicates": "duplicates",
          "map": "map", "health": "health"}  # fmt: skip
_JS = """
export default function ({ setTriggerValue }) {
  const follow = (event) => {
    const link = event.target instanceof Element ? event.target.closest('a.ld-go') : null;
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    setTriggerValue('address', link.getAttribute('href'));
  };
  document.addEventListener('click', follow);
  return () => document.removeEventListener('click', follow);
}
"""


def address(page: str, parameters: Parameters) -> str:
    """The address of a page with these parameters; those that are None or empty are left out."""
    kept = {name: value for name, value in parameters.items() if value not in (None, "")}
    if "lang" in st.query_params:
        kept["lang"] = st.query_params["lang"]
    path = "./" if page == "search" else page
    return f"{path}?{urlencode(kept, doseq=True, errors='replace')}" if kept else path


def this_search() -> str:
    """Everything the address of the search page holds, as one value; empty when that is its text alone."""
    held = {name: st.query_params.get_all(name) for name in st.query_params if name != "lang"}
    return urlencode(held, doseq=True, errors="replace") if held.keys() - {"q"} else ""


def back_to_search(search: str, query: str) -> str:
    """The address of the search that ``this_search`` told, or of one for the query alone."""
    return address("search", parse_qs(search) or {"q": query})


def link(text: str, to: str, *, css: str = "", title: str = "", style: str = "") -> str:
    """HTML of a link that shows ``text`` as it is; ``title`` names it where the text is empty."""
    name = f' title="{escaped(title)}" aria-label="{escaped(title)}"' if title else ""
    look = f' style="{escaped(style)}"' if style else ""
    return f'<a class="ld-go {css}" href="{escaped(to)}" target="_self"{name}{look}>{escaped(text)}</a>'


def follow() -> None:
    """Mount what catches the clicks, and go where the last one leads."""
    catcher = st.components.v2.component("longdoc.links", js=_JS)
    with st.container(key="links"):
        clicked = catcher(key="link_catcher", on_address_change=_nothing)
    if isinstance(to := clicked.get("address"), str):
        go(to)


def go(to: str) -> None:
    """Leave for an address of this application; anything else leads to the start page."""
    parts = urlsplit(to)
    page = _PAGES.get(parts.path.strip("./"), "search")
    st.switch_page(f"views/{page}.py", query_params=parse_qs(parts.query))


def _nothing() -> None:
    """A component's trigger is only sent when somebody listens."""
