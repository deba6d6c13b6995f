"""The health page's parts: the library's size, its last runs, what went wrong, the machine, and a check of it all."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import access, components, jobs, links, reports, services, work
from app.components import say
from app.jobs import Job, State
from app.markup import escaped
from app.messages import engine
from indexer import StoredRun

_RUNS_SHOWN = 8
_PROBLEMS_SHOWN = 20


def figures() -> None:
    """The size of the library in a row of numbers."""
    counts, recipe = services.counts(), services.library().store.recipe
    size = counts.bytes / 1e6
    rows = [
        (say("health.documents"), f"{counts.documents:,}"),
        (say("health.chunks"), f"{counts.chunks:,}"),
        (say("health.size"), f"{size:,.0f} MB" if size < 10_000 else f"{size / 1000:,.1f} GB"),
        (say("health.encoder"), f"{recipe.encoder} · {recipe.dimension}"),
        (say("health.index"), say("health.index_of", count=f"{len(services.library().vectors):,}")),
    ]
    components.html(components.definitions(rows, css="ld-figures"))
    if (writer := services.library().writer) is not None:
        since = components.moment(writer.since)
        components.warning(say("health.writer", command=writer.command, since=since))


def statuses() -> None:
    """How many documents there are of each status, those that need somebody first."""
    by_status = services.counts().by_status
    rows = [
        (say(f"status.{status}"), f"{count:,}")
        for status, count in sorted(by_status.items(), key=lambda pair: (pair[0] == "indexed", -pair[1]))
        if count
    ]
    components.section(say("health.statuses"), components.definitions(rows))


def throughput(runs: Sequence[StoredRun]) -> None:
    """The last runs that encoded anything, the latest first, with their speed as a figure and a bar."""
    shown = [run for run in runs if run.encoded_tokens > 0][-_RUNS_SHOWN:][::-1]
    if not shown:
        components.section(say("health.throughput"), components.quiet(say("health.no_runs")))
        return
    top = max(run.tokens_per_second for run in shown)
    names = ("health.when", "health.read", "health.tokens", "health.pace")
    head = "".join(f'<th scope="col">{escaped(say(name))}</th>' for name in names)
    rows = "".join(_run(run, top) for run in shown)
    table = f'<table class="ld-table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    components.section(say("health.throughput"), table)


def _run(run: StoredRun, top: float) -> str:
    width = max(run.tokens_per_second / max(top, 1e-9) * 100, 1.5)
    cells = (components.moment(run.started), f"{run.added + run.updated:,}", f"{run.encoded_tokens:,}")
    bar = f'<span class="ld-pace"><span style="width:{width:.1f}%"></span></span>'
    shown = "".join(f"<td>{escaped(cell)}</td>" for cell in cells)
    return f"<tr>{shown}<td>{bar}{run.tokens_per_second:,.0f}</td></tr>"


def problems() -> None:
    """What went wrong last: jobs that could not go on, and documents that could not be read."""
    failed = [job for job in jobs.jobs(services.settings().library) if job.state is State.FAILED and job.message]
    rows = [(escaped(components.moment(job.started)), escaped(engine(job.message))) for job in failed[:5]]
    for document in reports.unread()[:_PROBLEMS_SHOWN]:
        name = links.link(components.title(document), links.address("document", {"id": document.id}))
        reason = engine(document.reason) if document.reason else say(f"status.{document.status}")
        rows.append((name, escaped(reason)))
    shown = "".join(f"<dt>{name}</dt><dd>{what}</dd>" for name, what in rows)
    body = f'<dl class="ld-ledger ld-wide">{shown}</dl>' if rows else components.quiet(say("health.fine"))
    components.section(say("health.problems"), body)


def verify() -> None:
    """What the last check of everything stored found, and the way to check again."""
    done = jobs.result(services.settings().library, "verify")
    if done is None:
        components.section(say("health.verify"), components.quiet(say("health.verify_what")))
    else:
        components.section(say("health.verify"), _checked(*done))
    if access.may_edit():
        work.offer("verify", say("health.verify_now"), again=True)


def _checked(job: Job, found: dict[str, object]) -> str:
    findings = found.get("findings")
    when = components.quiet(say("health.verified", when=components.moment(job.started)))
    if not isinstance(findings, list) or not findings:
        return f'<p class="ld-good" role="status">{escaped(say("health.sound"))}</p>{when}'
    rows = "".join(f"<li>{escaped(engine(str(one['what'])))}</li>" for one in findings[:_PROBLEMS_SHOWN])
    listed = f'<ul class="ld-names" role="status">{rows}</ul>'
    wrong = any(one["severity"] != "note" for one in findings)
    verdict = components.quiet(say("health.repair")) if wrong else components.quiet(say("health.notes"))
    return f"{listed}{verdict}{when}"


def sources() -> None:
    """The folders that documents come from, and whether each is there."""
    rows = "".join(f"<li>{escaped(components.shown_path(path))}</li>" for path in services.facets().sources)
    if rows:
        components.section(say("health.sources"), f'<ul class="ld-names">{rows}</ul>')


def measured() -> None:
    """The pictures of what the last probes on this machine measured."""
    shown = (("health.growth", reports.growth_shown()), ("health.needle", reports.needle_shown()))
    for key, picture in shown:
        body = (
            f'<img class="ld-plot" src="{picture}" alt="{escaped(say(key))}">'
            if picture
            else components.quiet(say(f"{key}_none"))
        )
        components.section(say(key), body)


def machine() -> None:
    """What the doctor finds on this machine, the worst first."""
    with st.spinner(say("health.looking")):
        findings = reports.doctor()
    order = ("fail", "warn", "ok")
    rows = "".join(
        f'<li class="ld-{one.level}"><span class="ld-level">{escaped(say(f"level.{one.level}"))}</span>'
        f"<span><strong>{escaped(engine(one.name))}</strong> {escaped(engine(one.text))}"
        f'<span class="ld-snippet">{escaped(engine(one.advice))}</span></span></li>'
        for one in sorted(findings, key=lambda one: order.index(one.level))
    )
    components.section(say("health.machine"), f'<ul class="ld-findings">{rows}</ul>')
