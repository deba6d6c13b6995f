"""The work that goes on behind the pages, as it is seen on them: how far it is, what it did, a button to stop it."""

from __future__ import annotations

import streamlit as st

from app import access, components, jobs, services
from app.components import html, say
from app.jobs import Failure, Job, State
from app.markup import escaped
from app.messages import engine
from app.texts import TEXTS

_EVERY_SECONDS = 1.0
_FAILURES_SHOWN = 50
TOPICS = f"clusters {jobs.CHUNKS}"
_KINDS = {
    "add": "read", "sync": "read", "clusters": "map", TOPICS: "topics", "duplicates": "pairs", "verify": "check",
}  # fmt: skip

_ICONS = {
    "clusters": ":material/hub:",
    TOPICS: ":material/segment:",
    "duplicates": ":material/compare_arrows:",
    "verify": ":material/fact_check:",
}


def busy() -> bool:
    """Whether a job is at work: there is one at a time, whoever started it."""
    return jobs.running(services.settings().library) is not None


def start(*arguments: str) -> None:
    """Start a job and show the page anew with it."""
    st.session_state["watched_job"] = jobs.start(services.settings().library.resolve(), arguments)
    st.rerun()


def offer(verb: str, name: str, *, again: bool) -> None:
    """The button that starts a job over the whole library, for those who may."""
    if not access.may_edit():
        components.note(say("job.ask_editor"))
    elif st.button(name, icon=_ICONS[verb], type="secondary" if again else "primary", disabled=busy()):
        start(*verb.split(), "--json")


def panel(*verbs: str) -> None:
    """The job at work, whatever it is, or what the last one of these verbs did when this session saw it at work."""
    library = services.settings().library
    active = jobs.running(library)
    if active is not None:
        st.session_state["watched_job"] = active.id
        st.fragment(_watch, run_every=_EVERY_SECONDS)()
        return
    last = jobs.last(library, *verbs)
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
        if access.may_edit():
            st.button(say("job.stop"), icon=":material/stop_circle:", on_click=jobs.stop, args=(library, active.id))
        _failures(active)


def _say(job: Job, state: str) -> str:
    return say(f"job.{_KINDS.get(job.verb, 'read')}.{state}")


def _progress(job: Job) -> None:
    percent = None if job.share is None else f"{job.share * 100:.1f}"
    value = "" if percent is None else f' aria-valuenow="{percent}"'
    bar = '<div class="ld-unknown"></div>' if percent is None else f'<div style="width:{percent}%"></div>'
    title = escaped(_say(job, "running"))
    name = components.shown_path(job.file.rsplit("/", 1)[-1])
    html(
        f'<h2 class="ld-h2" role="status">{title}</h2>'
        f'<div class="ld-bar" role="progressbar" aria-label="{title}" aria-valuemin="0" aria-valuemax="100"{value}>'
        f'{bar}</div><p class="ld-where">{_line(job)}</p><p class="ld-where">{escaped(name)}</p>'
    )


def _line(job: Job) -> str:
    if job.files_total:
        counted = say("job.counted", done=f"{job.files_done:,}", total=f"{job.files_total:,}")
    else:
        counted = engine(job.step) if job.step else say("job.starting")
    pace = say("job.pace", pace=f"{job.tokens_per_second:,.0f}") if job.tokens_per_second else ""
    left = say("job.left", time=duration(job.seconds_left)) if job.seconds_left is not None else ""
    return '<span class="ld-sep">·</span>'.join(escaped(part) for part in (counted, pace, left) if part)


def _ended(job: Job) -> None:
    html(f'<h2 class="ld-h2" role="status">{escaped(_say(job, job.state))}</h2>')
    if job.message:
        components.warning(engine(job.message))
    if job.summary:
        components.note(say("job.summary", **job.summary, pace=f"{job.tokens_per_second:,.0f}"))
    _failures(job)


def _failures(job: Job) -> None:
    if not job.failures:
        return
    with st.expander(say("job.failures", count=len(job.failures)), expanded=job.state is not State.RUNNING):
        rows = [
            (components.shown_path(failure.path.rsplit("/", 1)[-1]), _why(failure))
            for failure in job.failures[:_FAILURES_SHOWN]
        ]
        html(components.definitions(rows))


def _why(failure: Failure) -> str:
    key = f"status.{failure.status}"
    status = say(key) if key in TEXTS else failure.status
    return f"{status}: {engine(failure.reason)}" if failure.reason else status


def duration(seconds: float) -> str:
    """A time left as people say it."""
    if seconds < 90:
        return say("time.seconds", count=max(round(seconds), 1))
    if seconds < 5400:
        return say("time.minutes", count=round(seconds / 60))
    return say("time.hours", count=f"{seconds / 3600:.1f}")
