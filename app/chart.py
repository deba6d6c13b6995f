"""The map of the collection: documents as points, coloured by cluster, to look at, click and draw around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as graphs
import streamlit as st

from app import components, links, services
from app.components import html, say
from app.markup import escaped, plain
from app.messages import engine
from indexer import Clustering, MapPoint, StoredDocument

_HEIGHT = 620
_LISTED = 50


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
    """The scatter plot. Plotly reads its texts as markup, so titles are escaped for it."""
    drawn = graphs.Figure()
    names: list[tuple[int | None, str]] = [(cluster.id, cluster.label) for cluster in clustering.clusters]
    for number, name in [*names, (None, say("map.outliers"))]:
        members = [point for point in points if point.cluster == number]
        if not members:
            continue
        drawn.add_scatter(
            x=[point.x for point in members],
            y=[point.y for point in members],
            mode="markers",
            name=_shown(name, 40),
            customdata=[[point.document] for point in members],
            text=[_shown(components.title(documents[point.document]), 90) for point in members],
            hovertemplate="%{text}<extra></extra>",
            marker={"size": 11, "opacity": 0.85}
            | ({"color": "#8a8a85", "symbol": "circle-open"} if number is None else {}),
        )
        if number is not None:
            middle = len(members) // 2
            drawn.add_annotation(
                x=sorted(point.x for point in members)[middle],
                y=max(point.y for point in members),
                text=f"<b>{_shown(name, 32)}</b>",
                showarrow=False,
                yshift=16,
            )
    drawn.update_layout(
        height=_HEIGHT,
        margin={"l": 0, "r": 0, "t": 24, "b": 0},
        legend={"orientation": "h", "y": -0.02},
        dragmode="lasso",
        xaxis={"visible": False},
        yaxis={"visible": False, "scaleanchor": "x"},
    )
    return drawn


def _shown(text: str, limit: int) -> str:
    line = " ".join(plain(text).split())
    return escaped(line if len(line) <= limit else line[: limit - 1].rstrip() + "…")


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
