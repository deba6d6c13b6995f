"""The health page's parts: what the library holds, how fast runs were, what the doctor and a check say."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import components, jobs, links, services
from app.components import html, say
from app.jobs import State
from app.markup import escaped
from indexer import Finding, StoredRun, Verification

_RUNS_SHOWN = 30
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
    cells = "".join(f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in rows)
    html(f'<dl class="ld-figures">{cells}</dl>')
    if (writer := services.library().writer) is not None:
        components.warning(say("health.writer", command=writer.command, since=writer.since[:16].replace("T", " ")))


def statuses() -> None:
    """How many documents there are of each status, those that need somebody first."""
    by_status = services.counts().by_status
    rows = "".join(
        f"<dt>{escaped(say(f'status.{status}'))}</dt><dd>{count:,}</dd>"
        for status, count in sorted(by_status.items(), key=lambda pair: (pair[0] == "indexed", -pair[1]))
        if count
    )
    html(f'<h2 class="ld-h2">{escaped(say("health.statuses"))}</h2><dl class="ld-ledger">{rows}</dl>')


def throughput(runs: Sequence[StoredRun]) -> None:
    """Tokens a second of the last runs that encoded anything, as bars with their figures."""
    shown = [run for run in runs if run.encoded_tokens > 0][-_RUNS_SHOWN:]
    html(f'<h2 class="ld-h2">{escaped(say("health.throughput"))}</h2>')
    if not shown:
        components.note(say("health.no_runs"))
        return
    top = max(run.tokens_per_second for run in shown)
    bars = "".join(_bar(run, top) for run in shown)
    html(
        f'<div class="ld-bars" role="list">{bars}</div>'
        f'<p class="ld-where">{escaped(say("health.fastest", pace=f"{top:,.0f}", count=len(shown)))}</p>'
    )


def _bar(run: StoredRun, top: float) -> str:
    when = run.started[:16].replace("T", " ")
    pace, tokens = f"{run.tokens_per_second:,.0f}", f"{run.encoded_tokens:,}"
    name = escaped(say("health.run", when=when, pace=pace, tokens=tokens, documents=run.added + run.updated))
    height = max(run.tokens_per_second / top * 100, 1.5)
    return f'<div role="listitem" title="{name}" aria-label="{name}" style="height:{height:.1f}%"></div>'


def machine() -> None:
    """What the doctor finds on this machine, the worst first."""
    html(f'<h2 class="ld-h2">{escaped(say("health.machine"))}</h2>')
    with st.spinner(say("health.looking")):
        findings = services.doctor()
    order = ("fail", "warn", "ok")
    rows = "".join(map(_finding, sorted(findings, key=lambda one: order.index(one.level))))
    html(f'<ul class="ld-findings">{rows}</ul>')


def _finding(finding: Finding) -> str:
    advice = f'<span class="ld-snippet">{escaped(finding.advice)}</span>' if finding.advice else ""
    level = escaped(say(f"level.{finding.level}"))
    return (
        f'<li class="ld-{finding.level}"><span class="ld-level">{level}</span>'
        f"<span><strong>{escaped(finding.name)}</strong> {escaped(finding.text)}{advice}</span></li>"
    )


def verify() -> None:
    """A check of everything that is stored, when somebody asks for it."""
    html(f'<h2 class="ld-h2">{escaped(say("health.verify"))}</h2>')
    components.note(say("health.verify_what"))
    if st.button(say("health.verify_now"), icon=":material/fact_check:"):
        with st.spinner(say("health.verifying")):
            _verified(services.verified())


def _verified(checked: Verification) -> None:
    if not checked.findings:
        html(f'<p class="ld-good" role="status">{escaped(say("health.sound"))}</p>')
        return
    rows = "".join(f"<li>{escaped(str(finding.what))}</li>" for finding in checked.findings[:_PROBLEMS_SHOWN])
    html(f'<ul class="ld-names" role="status">{rows}</ul>')
    components.note(say("health.repair"))


def problems() -> None:
    """What went wrong last: runs that could not go on, and documents that could not be read."""
    failed = [job for job in jobs.jobs(services.settings().library) if job.state is State.FAILED and job.message]
    rows = [
        f"<dt>{escaped(job.started[:16].replace('T', ' '))}</dt><dd>{escaped(job.message)}</dd>" for job in failed[:5]
    ]
    for document in services.unread()[:_PROBLEMS_SHOWN]:
        name = links.link(components.title(document), links.address("document", {"id": document.id}))
        reason = document.reason or say(f"status.{document.status}")
        rows.append(f"<dt>{name}</dt><dd>{escaped(reason)}</dd>")
    html(f'<h2 class="ld-h2">{escaped(say("health.problems"))}</h2>')
    html(
        f'<dl class="ld-ledger ld-wide">{"".join(rows)}</dl>'
        if rows
        else f'<p class="ld-note">{escaped(say("health.fine"))}</p>'
    )
