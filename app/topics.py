"""What the map shows, as lists: topics with their clusters, what lies outside of all, and how they grew over time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import plotly.graph_objects as graphs
import streamlit as st

from app import access, chart, components, links, services
from app.components import html, say
from app.markup import escaped
from app.messages import engine
from app.reports import ChunkSubject, FoundSubjects
from indexer import Cluster, Clustering, Growth, LongdocError, StoredDocument

_WORTH_A_LOOK = 4
"""Documents from which a cluster has sub-topics worth looking for."""
_OUTLIERS_SHOWN = 100
_FULLEST = 3
_LONGEST_LABEL = 80
_LEAST_DATED = 4
_PERIODS = 36
"""Months, else years, that the picture of growth shows at most."""


def show(clustering: Clustering, *, inside: bool = False) -> None:
    """The clusters under their topics, then the outliers; ``inside`` a cluster, without a way further in."""
    hues = chart.colours(clustering)
    parts = "".join(_topic(name, clusters, hues, inside=inside) for name, clusters in _topics(clustering))
    html(f'<h2 class="ld-h2">{escaped(say("map.inside_clusters" if inside else "map.clusters"))}</h2>{parts}')
    components.note(engine(clustering.criterion))
    if clustering.outliers:
        known = {document.id: document for document in services.documents()}
        _outliers([known[number] for number in clustering.outliers if number in known])


def _topics(clustering: Clustering) -> list[tuple[str, list[Cluster]]]:
    """Each topic with its clusters, largest first; one nameless topic when there are none above the clusters."""
    known = {cluster.id: cluster for cluster in clustering.clusters}
    named = [
        (
            topic.label if len(topic.clusters) > 1 else "",
            [known[number] for number in topic.clusters if number in known],
        )
        for topic in clustering.topics
    ] or [("", list(known.values()))]
    for _, clusters in named:
        clusters.sort(key=lambda cluster: -cluster.size)
    return sorted(named, key=lambda one: (not one[0], -sum(cluster.size for cluster in one[1])))


def _topic(name: str, clusters: Sequence[Cluster], hues: Mapping[int | None, str], *, inside: bool) -> str:
    rows = "".join(_cluster(cluster, hues[cluster.id], inside=inside) for cluster in clusters)
    heading = f'<h3 class="ld-topic">{escaped(name)}</h3>' if name else ""
    return f'{heading}<ul class="ld-list ld-columns">{rows}</ul>'


def _cluster(cluster: Cluster, hue: str, *, inside: bool) -> str:
    """A cluster: its colour on the map, its label, which leads into a search among its documents, size and terms."""
    size = escaped(say("map.size", count=cluster.size))
    only = {"only": ",".join(map(str, cluster.documents[:50]))} if inside else {"cluster": cluster.id}
    label = links.link(cluster.label, links.address("search", only))
    further = ""
    if not inside and cluster.size >= _WORTH_A_LOOK:
        look = links.link(say("map.look_inside"), links.address("map", {"inside": cluster.id}))
        further = f'<span class="ld-sep">·</span>{look}'
    dot = f'<i class="ld-dot" style="background:{escaped(hue)}"></i>'
    return (
        f'<li>{dot}{label} <span class="ld-where">{size}{further}</span>'
        f'<span class="ld-snippet">{escaped(", ".join(cluster.terms[:8]))}</span></li>'
    )


def _outliers(documents: Sequence[StoredDocument]) -> None:
    with st.expander(say("map.outliers_count", count=len(documents))):
        components.note(say("map.outliers_why"))
        rows = "".join(
            f"<li>{links.link(components.title(one), links.address('document', {'id': one.id}))}</li>"
            for one in documents[:_OUTLIERS_SHOWN]
        )
        html(f'<ul class="ld-list ld-columns">{rows}</ul>')


def show_subjects(found: FoundSubjects) -> None:
    """Topics of chunks: a long document may stand under several."""
    names = {document.id: components.title(document) for document in services.documents()}
    if found.stale:
        components.note(say("map.subjects_stale"))
    rows = "".join(_subject(subject, names) for subject in found.subjects)
    html(f'<ul class="ld-list ld-columns">{rows}</ul>')


def _subject(subject: ChunkSubject, names: Mapping[int, str]) -> str:
    only = ",".join(str(document) for document, _ in subject.documents[:50])
    label = links.link(subject.label, links.address("search", {"only": only, "q": " ".join(subject.terms[:3])}))
    size = say("map.subject_size", chunks=f"{subject.size:,}", count=len(subject.documents))
    fullest = ", ".join(f"{names[document]} ({count})" for document, count in subject.documents[:_FULLEST])
    told = f'<span class="ld-where">{escaped(size)}</span><span class="ld-snippet">{escaped(fullest)}</span>'
    return f"<li>{label} {told}</li>"


def rename(cluster: Cluster) -> None:
    """A way to give a cluster another label, for those who may."""
    if not access.may_edit():
        return
    with st.popover(say("map.rename"), icon=":material/edit:"), st.form("rename", border=False):
        label = st.text_input(say("map.label"), value=cluster.label, max_chars=_LONGEST_LABEL)
        if st.form_submit_button(say("map.keep_label"), type="primary"):
            _keep(cluster, label.strip())


def _keep(cluster: Cluster, label: str) -> None:
    try:
        services.rename(cluster.id, label)
    except LongdocError as error:
        components.warning(engine(str(error)))
    else:
        st.rerun()


def show_growth(clustering: Clustering, growth: Sequence[Growth]) -> None:
    """How many documents of each cluster are dated in each month or year; nothing when few are."""
    counts, periods = by_period(growth)
    dated = sum(sum(count.values()) for count in counts.values())
    if len(periods) < 2 or dated < _LEAST_DATED:
        return
    html(f'<h2 class="ld-h2">{escaped(say("map.growth"))}</h2>')
    drawn = growth_figure(clustering, counts, periods)
    st.plotly_chart(drawn, key="growth", config={"displayModeBar": False}, alt=say("map.growth_picture"))
    total = sum(cluster.size for cluster in clustering.clusters)
    components.note(say("map.growth_dated", dated=dated, total=total))


def by_period(growth: Sequence[Growth]) -> tuple[Mapping[int, Mapping[str, int]], list[str]]:
    """For each cluster its documents by period, and all periods from first to last: months, or years if many."""
    months = sorted({one.period for one in growth})
    if not months:
        return {}, []
    periods = _months(months[0], months[-1])
    yearly = len(periods) > _PERIODS
    if yearly:
        periods = [f"{year:04d}" for year in range(int(months[0][:4]), int(months[-1][:4]) + 1)][-_PERIODS:]
    counts: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for one in growth:
        if (period := one.period[:4] if yearly else one.period) in periods:
            counts[one.cluster][period] += one.documents
    return counts, periods


def _months(first: str, last: str) -> list[str]:
    """Every month from one to another, both as ``2024-05``."""
    start, end = (int(month[:4]) * 12 + int(month[5:7] or 1) - 1 for month in (first, last))
    return [f"{number // 12:04d}-{number % 12 + 1:02d}" for number in range(start, end + 1)]


def growth_figure(
    clustering: Clustering, counts: Mapping[int, Mapping[str, int]], periods: Sequence[str]
) -> graphs.Figure:
    """Stacked bars, with a cluster in the same colour as on the map."""
    drawn = graphs.Figure()
    hues = chart.colours(clustering)
    for cluster in clustering.clusters:
        of = counts.get(cluster.id, {})
        drawn.add_bar(
            x=list(periods),
            y=[of.get(period, 0) for period in periods],
            name=escaped(components.shown_path(cluster.label)),
            marker={"color": hues[cluster.id]},
            hovertemplate="%{x}: %{y}<extra>%{fullData.name}</extra>",
        )
    drawn.update_layout(
        barmode="stack",
        height=260,
        margin={"l": 0, "r": 0, "t": 8, "b": 0},
        showlegend=False,
        xaxis={"type": "category", "fixedrange": True},
        yaxis={"fixedrange": True},
    )
    return drawn
