"""Bringing documents in from the browser, and following the work while it goes on."""

from __future__ import annotations

import streamlit as st

from app import components, intake, jobs, services
from app.components import html, say
from app.jobs import Job, State
from app.markup import escaped
from app.texts import TEXTS
from indexer import LongdocError

_EVERY_SECONDS = 1.0
_FAILURES_SHOWN = 50


def panel() -> None:
    """The job at work, or what the last one did."""
    library = services.settings().library
    active = jobs.running(library)
    if active is not None:
        st.session_state["watched_job"] = active.id
        st.fragment(_watch, run_every=_EVERY_SECONDS)()
        return
    last = next(iter(jobs.jobs(library)), None)
    if last is not None and st.session_state.get("watched_job") == last.id:
        with st.container(border=True, key="job"):
            _ended(last)


def _watch() -> None:
    library = services.settings().library
    active = jobs.running(library)
    if active is None:
        st.rerun()
    with st.container(border=True, key="job"):
        _progress(active)
        st.button(say("job.stop"), icon=":material/stop_circle:", on_click=jobs.stop, args=(library, active.id))
        _failures(active)


def _progress(job: Job) -> None:
    counted = (
        say("job.counted", done=f"{job.files_done:,}", total=f"{job.files_total:,}")
        if job.files_total
        else say("job.starting")
    )
    pace = say("job.pace", pace=f"{job.tokens_per_second:,.0f}") if job.tokens_per_second else ""
    left = say("job.left", time=duration(job.seconds_left)) if job.seconds_left is not None else ""
    line = '<span class="ld-sep">·</span>'.join(escaped(part) for part in (counted, pace, left) if part)
    name = components.shown_path(job.file.rsplit("/", 1)[-1])
    percent = f"{job.share * 100:.1f}"
    html(
        f'<h2 class="ld-h2" role="status">{escaped(say("job.title"))}</h2>'
        f'<div class="ld-bar" role="progressbar" aria-label="{escaped(say("job.title"))}" aria-valuemin="0" '
        f'aria-valuemax="100" aria-valuenow="{percent}"><div style="width:{percent}%"></div></div>'
        f'<p class="ld-where">{line}</p><p class="ld-where">{escaped(name)}</p>'
    )


def _ended(job: Job) -> None:
    html(f'<h2 class="ld-h2" role="status">{escaped(say(f"job.{job.state}"))}</h2>')
    if job.message:
        components.warning(job.message)
    if job.summary:
        components.note(say("job.summary", **job.summary, pace=f"{job.tokens_per_second:,.0f}"))
    _failures(job)


def _failures(job: Job) -> None:
    if not job.failures:
        return
    with st.expander(say("job.failures", count=len(job.failures)), expanded=job.state is not State.RUNNING):
        rows = "".join(
            f"<dt>{escaped(components.shown_path(failure.path.rsplit('/', 1)[-1]))}</dt>"
            f"<dd>{escaped(_status(failure.status))}{': ' if failure.reason else ''}{escaped(failure.reason)}</dd>"
            for failure in job.failures[:_FAILURES_SHOWN]
        )
        html(f'<dl class="ld-ledger">{rows}</dl>')


def _status(status: str) -> str:
    key = f"status.{status}"
    return say(key) if key in TEXTS else status


def duration(seconds: float) -> str:
    """A time left as people say it."""
    if seconds < 90:
        return say("time.seconds", count=max(round(seconds), 1))
    if seconds < 5400:
        return say("time.minutes", count=round(seconds / 60))
    return say("time.hours", count=f"{seconds / 3600:.1f}")


def forms() -> None:
    """Add a folder by its path, or upload files; sync, and try again what failed."""
    settings = services.settings()
    busy = jobs.running(settings.library) is not None
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
            uploads = st.file_uploader(
                say("add.files"),
                type=list(intake.TYPES),
                accept_multiple_files=True,
                max_upload_size=settings.ui_upload_mb,
            )
            if st.form_submit_button(say("add.upload"), disabled=busy) and uploads:
                paths = intake.keep_uploads(uploads, settings.library)
                _start(["add", "--nice", "--wait", *map(str, paths)])
    with st.container(horizontal=True, key="upkeep"):
        if st.button(say("add.sync"), icon=":material/sync:", disabled=busy, help=say("add.sync_help")):
            _start(["sync", "--nice", "--wait"])
        if st.button(say("add.retry"), icon=":material/replay:", disabled=busy, help=say("add.retry_help")):
            _start(["sync", "--retry", "--nice", "--wait"])


def _allowed() -> str:
    roots = intake.roots(services.settings())
    return say("add.roots", roots=", ".join(map(str, roots))) if roots else say("add.no_roots")


def _start_folder(typed: str) -> None:
    try:
        path = intake.checked_path(typed, services.settings())
    except LongdocError as error:
        components.warning(str(error))
    else:
        _start(["add", "--nice", "--wait", "--", str(path)])


def _start(arguments: list[str]) -> None:
    st.session_state["watched_job"] = jobs.start(services.settings().library.resolve(), arguments)
    st.rerun()
