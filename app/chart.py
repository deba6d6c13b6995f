"""The map of the collection: documents as points, coloured by cluster, to look at, click and draw around."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from statistics import median
from unicodedata import east_asian_width

import plotly.graph_objects as graphs
import streamlit as st

from app import components, links, services
from app.components import html, say
from app.markup import escaped, plain
from app.messages import engine
from indexer import Clustering, MapPoint, StoredDocument

_HEIGHT = 600
_NAMED = 30
"""Up to so many documents, each point carries its title."""
_LISTED = 50
_TITLE = 28
"""How wide a title on the map is, in columns: a Chinese character takes two."""


def show(clustering: Clustering) -> None:
    """The map, what is chosen on it, and the clusters as a list."""
    documents = {document.id: document for document in services.documents()}
    points = [point for point in clustering.points if point.document in documents]
    event = st.plotly_chart(
        figure(clustering, points, documents),
        key="map",
        on_select="rerun",
        selection_mode=("points", "box", "lasso"),
        config={"displaylogo": False, "scrollZoom": True, "modeBarButtonsToRemove": ["toImage", "autoScale2d"]},
        alt=say("map.picture", documents=len(points), clusters=len(clustering.clusters)),
    )
    selected = event.get("selection", {}).get("points", []) if hasattr(event, "get") else []
    chosen = [documents[number] for one in selected if (number := _document(one)) in documents]
    _chosen(chosen)
    _clusters(clustering)


def figure(
    clustering: Clustering, points: Sequence[MapPoint], documents: Mapping[int, StoredDocument]
) -> graphs.Figure:
    """The scatter plot: of a few documents each with its title, of many each cluster with its label.

    Plotly reads its texts as markup, so titles are escaped for it.
    """
    drawn = graphs.Figure()
    named = len(points) <= _NAMED
    names: list[tuple[int | None, str]] = [(cluster.id, cluster.label) for cluster in clustering.clusters]
    for number, name in [*names, (None, say("map.outliers"))]:
        members = [point for point in points if point.cluster == number]
        if not members:
            continue
        titles = [components.title(documents[point.document]) for point in members]
        drawn.add_scatter(
            x=[point.x for point in members],
            y=[point.y for point in members],
            mode="markers+text" if named else "markers",
            name=_shown(name, 40),
            customdata=[[point.document] for point in members],
            text=[_shown(title, _TITLE) for title in titles] if named else None,
            textposition=[_side(point, points) for point in members] if named else None,
            textfont={"size": 12, "color": _ink()},
            hovertext=[_shown(title, 90) for title in titles],
            hovertemplate="%{hovertext}<extra></extra>",
            cliponaxis=False,
            marker={"size": 12 if named else 9, "opacity": 0.85}
            | ({"color": "#8a8a85", "symbol": "circle-open"} if number is None else {}),
        )
        if number is not None and not named:
            _label(drawn, members, name)
    across, along = ([getattr(point, axis) for point in points] for axis in "xy")
    drawn.update_layout(
        height=_HEIGHT,
        margin={"l": 0, "r": 0, "t": 8, "b": 0},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "itemsizing": "constant"},
        dragmode="lasso",
        xaxis={"visible": False, "range": _range(across, 0.12 if named else 0.05)},
        yaxis={"visible": False, "range": _range(along, 0.08)},
    )
    return drawn


def _ink() -> str:
    """The colour of titles, which Streamlit's own theme for charts makes too pale to read."""
    return "#d8d6d0" if st.context.theme.type == "dark" else "#3b4044"


def _side(point: MapPoint, points: Sequence[MapPoint]) -> str:
    """On which side of a point its title stands: towards the middle, and below where a point lies close above it."""
    left, width = min(p.x for p in points), abs(max(p.x for p in points) - min(p.x for p in points)) or 1.0
    height = abs(max(p.y for p in points) - min(p.y for p in points)) or 1.0
    above = any(abs(p.x - point.x) < 0.2 * width and 0 < p.y - point.y < 0.08 * height for p in points)
    across = (point.x - left) / width
    return f"{'bottom' if above else 'top'} {'right' if across < 0.4 else 'left' if across > 0.6 else 'center'}"


def _label(drawn: graphs.Figure, members: Sequence[MapPoint], name: str) -> None:
    """The cluster's label over the middle of its points, on a ground of its own that keeps it readable."""
    drawn.add_annotation(
        x=median(point.x for point in members),
        y=median(point.y for point in members),
        text=f"<b>{_shown(name, 32)}</b>",
        showarrow=False,
        bgcolor="rgba(253, 252, 249, 0.86)",
        font={"color": "#23272b", "size": 12},
        borderpad=3,
    )


def _range(values: Sequence[float], margin: float) -> list[float]:
    """The values' range with a margin on both sides, so that no point or title is cut at the edge."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = max(high - low, 1e-6) * margin
    return [low - room, high + room]


def _shown(text: str, limit: int) -> str:
    """A text in one line of at most so many columns, escaped for Plotly."""
    line = " ".join(plain(text).split())
    ends = list(accumulate(2 if east_asian_width(character) in "WF" else 1 for character in line))
    return escaped(line if not ends or ends[-1] <= limit else line[: bisect_right(ends, limit - 1)].rstrip() + "…")


def _document(point: Mapping[str, object]) -> int:
    """The document of a point as Plotly hands it back: its custom data is a list, or an object with keys 0, 1 ..."""
    data = point.get("customdata")
    values = list(data.values()) if isinstance(data, dict) else list(data) if isinstance(data, list | tuple) else [data]
    return int(str(values[0])) if values and str(values[0]).isdigit() else -1


def _chosen(chosen: Sequence[StoredDocument]) -> None:
    if not chosen:
        components.note(say("map.hint"))
        return
    rows = "".join(
        f"<li>{links.link(components.title(document), links.address('document', {'id': document.id}))}</li>"
        for document in chosen[:_LISTED]
    )
    with st.container(border=True, key="map_chosen"):
        head = f'<h2 class="ld-h2">{escaped(say("library.chosen", count=len(chosen)))}</h2>'
        html(f'{head}<ul class="ld-list ld-columns">{rows}</ul>')
        if st.button(say("library.search_these"), icon=":material/search:", type="primary"):
            links.go(links.address("search", {"only": ",".join(str(document.id) for document in chosen[:_LISTED])}))


def _clusters(clustering: Clustering) -> None:
    rows = "".join(
        f"<li>{links.link(cluster.label, links.address('search', {'cluster': cluster.id}))}"
        f' <span class="ld-where">{escaped(say("map.size", count=cluster.size))}</span>'
        f'<span class="ld-snippet">{escaped(", ".join(cluster.terms[:8]))}</span></li>'
        for cluster in sorted(clustering.clusters, key=lambda one: -one.size)
    )
    html(f'<h2 class="ld-h2">{escaped(say("map.clusters"))}</h2><ul class="ld-list ld-columns">{rows}</ul>')
    components.note(engine(clustering.criterion))
