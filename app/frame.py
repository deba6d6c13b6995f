"""The frame around every page: the menu, who is signed in, what is shown when a page cannot be, and the foot."""

from __future__ import annotations

import logging
from importlib.metadata import version
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from app import access, components, links
from app.components import say
from app.messages import engine
from app.texts import Language
from indexer import LibraryNotFoundError, LongdocError, load_settings

_VIEWS = Path(__file__).with_name("views")
_PAGES = ("search", "library", "duplicates", "map", "health")
_LOG = logging.getLogger("longdoc.app")


def pages() -> list[StreamlitPage]:
    """The pages of the menu, and the document page, which is reached through a document."""
    shown = [
        st.Page(
            _VIEWS / f"{name}.py",
            title=say(f"nav.{name}"),
            url_path=None if name == "search" else name,
            default=name == "search",
        )
        for name in _PAGES
    ]
    document = st.Page(_VIEWS / "document.py", title=say("nav.document"), url_path="document", visibility="hidden")
    return [*shown, document]


def run(page: StreamlitPage) -> None:
    """Show a page to a person who may see it; what goes wrong becomes a sentence on it."""
    if access.role() is None:
        _ask_to_sign_in()
    else:
        links.follow()
        try:
            page.run()
        except LibraryNotFoundError:
            components.library_is_empty()
        except LongdocError as error:
            components.problem(say("problem.title"), engine(str(error)))
        except Exception:
            _LOG.exception("the page %s failed", page.url_path or "search")
            components.problem(say("problem.title"), say("problem.unexpected"))
    foot()


def _ask_to_sign_in() -> None:
    with st.container(border=True):
        components.html(f"<h2>{say('login.lead')}</h2>")
        if load_settings().ui_access == "oidc":
            st.button(say("login.button"), type="primary", on_click=st.login)
        else:
            components.html(f'<a href="/login" target="_self">{say("login.button")}</a>')


def foot() -> None:
    """The quiet line at the end of each page: the version, the promise, the language."""
    components.html('<hr class="ld-rule ld-foot">')
    with st.container(horizontal=True, vertical_alignment="center", key="foot"):
        components.note(f"longdoc {version('longdoc')} · {say('frame.private')}")
        st.segmented_control(
            say("frame.language"),
            list(Language),
            format_func=lambda language: language.own_name,
            default=components.language(),
            required=True,
            key="language_choice",
            label_visibility="collapsed",
            on_change=_choose_language,
        )
        if load_settings().ui_access == "password":
            components.html(f'<a class="ld-note" href="/logout" target="_self">{say("frame.sign_out")}</a>')


def _choose_language() -> None:
    st.query_params["lang"] = st.session_state["language_choice"].value
    st.session_state["language"] = st.session_state["language_choice"].value
