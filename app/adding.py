"""Bringing documents in from the browser."""

from __future__ import annotations

import streamlit as st

from app import components, intake, reports, services, work
from app.components import say
from app.messages import engine
from indexer import LongdocError, readable_suffixes


def forms() -> None:
    """Add a folder by its path, or upload files; sync, and try again what failed."""
    settings = services.settings()
    busy = work.busy()
    with st.expander(say("add.title"), icon=":material/add:", expanded=services.nothing_yet()):
        left, right = st.columns(2, gap="large")
        with left, st.form("add_folder", border=False):
            typed = st.text_input(
                say("add.path"), placeholder=str(next(iter(intake.roots(settings)), "")) + "/…", max_chars=4096
            )
            components.note(_allowed())
            if st.form_submit_button(say("add.folder"), disabled=busy, type="primary") and typed.strip():
                _start_folder(typed)
        with right, st.form("add_files", border=False, clear_on_submit=True):
            _choose_in_words()
            uploads = st.file_uploader(
                say("add.files"),
                type=list(readable_suffixes()),
                accept_multiple_files=True,
                max_upload_size=settings.ui_upload_mb,
            )
            components.note(say("add.limit", size=settings.ui_upload_mb, kinds=say("add.kinds")))
            if st.form_submit_button(say("add.upload"), disabled=busy) and uploads:
                paths = intake.keep_uploads(uploads, settings.library)
                work.start("add", "--nice", "--wait", "--", *map(str, paths))
    with st.container(horizontal=True, key="upkeep"):
        if st.button(say("add.sync"), icon=":material/sync:", disabled=busy, help=say("add.sync_help")):
            work.start("sync", "--nice", "--wait")
        if reports.unread_count() and st.button(
            say("add.retry"), icon=":material/replay:", disabled=busy, help=say("add.retry_help")
        ):
            work.start("sync", "--retry", "--nice", "--wait")


def _choose_in_words() -> None:
    """Give the style sheet the words of the button that opens the file dialog: Streamlit has them in English alone."""
    components.html(f"<style>:root {{ --ld-choose: '{say('add.choose')}'; }}</style>")


def _allowed() -> str:
    roots = intake.roots(services.settings())
    return say("add.roots", roots=", ".join(map(str, roots))) if roots else say("add.no_roots")


def _start_folder(typed: str) -> None:
    try:
        path = intake.checked_path(typed, services.settings())
    except LongdocError as error:
        components.warning(engine(str(error)))
    else:
        work.start("add", "--nice", "--wait", "--", str(path))
