"""The map of the collection: documents as points, coloured by cluster, to look at, click and draw around."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from html import unescape
from itertools import accumulate
from unicodedata import east_asian_width

import numpy as np
import plotly.graph_objects as graphs
import streamlit as st

from app import components, links, services
from app.components import html, say
from app.markup import escaped, plain
from indexer import Clustering, LabelBox, MapPoint, StoredDocument, label_spots

_WIDTH, _HEIGHT = 1120, 600
"""Of the map on a wide screen, in pixels; labels are placed for that."""
_COLUMN = 7.2
"""Pixels of a bold letter of 12."""
_MANY = 5000
_PLAIN = ("#4b5fa5", "#b4662a", "#1f5f5b", "#8a4f7d")
"""Colours for where the theme has none."""
_NAMED = 30
"""Up to so many documents, each point carries its title."""
_LISTED = 50
_TITLE = 28
"""How wide a title on the map is, in columns: a Chinese character takes two."""


def show(clustering: Clustering) -> None:
    """The map, and what is chosen on it."""
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


def figure(
    clustering: Clustering, points: Sequence[MapPoint], documents: Mapping[int, StoredDocument]
) -> graphs.Figure:
    """The scatter plot: of a few documents each with its title, of many each cluster with its label.

    The list below it is the legend.

    Plotly reads its texts as markup, so titles are escaped for it.
    """
    drawn = graphs.Figure()
    named = len(points) <= _NAMED
    hues = colours(clustering)
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
            marker={"size": 12 if named else 9 if len(points) < _MANY else 4, "opacity": 0.85, "color": hues[number]}
            | ({"symbol": "circle-open"} if number is None else {}),
        )
    across, along = ([getattr(point, axis) for point in points] for axis in "xy")
    reach = _range(across, 0.12 if named else 0.05), _range(along, 0.08)
    if not named:
        _label(drawn, names, points, reach)
    drawn.update_layout(
        height=_HEIGHT,
        margin={"l": 0, "r": 0, "t": 8, "b": 0},
        showlegend=False,
        dragmode="lasso",
        xaxis={"visible": False, "range": reach[0]},
        yaxis={"visible": False, "range": reach[1]},
    )
    return drawn


def colours(clustering: Clustering) -> dict[int | None, str]:
    """A colour of the theme for each cluster, by its id, so that a cluster keeps its colour; grey for outliers."""
    theme = "dark" if st.context.theme.type == "dark" else "light"
    known = st.get_option(f"theme.{theme}.chartCategoricalColors") or _PLAIN
    named: dict[int | None, str] = {one.id: known[(one.id - 1) % len(known)] for one in clustering.clusters}
    return named | {None: "#8a8a85"}


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


def _label(
    drawn: graphs.Figure,
    names: Sequence[tuple[int | None, str]],
    points: Sequence[MapPoint],
    reach: tuple[list[float], list[float]],
) -> None:
    """Each cluster's label beside its points, where it covers few of them and no other label, on a wide screen.

    On a phone the style sheet leaves labels out: the colours and the list below tell.
    """
    scale = np.array([_WIDTH / (reach[0][1] - reach[0][0]), _HEIGHT / (reach[1][1] - reach[1][0])])
    start = np.array([reach[0][0], reach[1][0]])
    places = (np.array([(point.x, point.y) for point in points]).reshape(-1, 2) - start) * scale
    of = np.array([point.cluster or 0 for point in points])
    shown = [(number, _shown(name, 32)) for number, name in names if (of == number).any()]
    middles = [np.median(places[of == number], axis=0) for number, _ in shown]
    boxes = [
        LabelBox(float(x), float(y), _COLUMN * columns(unescape(text)) + 14, 24)
        for (x, y), (_, text) in zip(middles, shown, strict=True)
    ]
    spots = label_spots(boxes, places, np.zeros(2), np.array([_WIDTH, _HEIGHT])) / scale + start
    for (x, y), (_, text) in zip(spots.tolist(), shown, strict=True):
        drawn.add_annotation(
            x=x, y=y, text=f"<b>{text}</b>", showarrow=False, bgcolor=_ground(), font={"color": _ink(), "size": 12},
            borderpad=3,
        )  # fmt: skip


def _ground() -> str:
    """What labels stand on: the page's own colour, a little transparent."""
    return "rgba(24, 26, 27, 0.8)" if st.context.theme.type == "dark" else "rgba(253, 252, 249, 0.86)"


def _range(values: Sequence[float], margin: float) -> list[float]:
    """The values' range with a margin on both sides, so that no point or title is cut at the edge."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = max(high - low, 1e-6) * margin
    return [low - room, high + room]


def columns(text: str) -> int:
    """How wide a text is: a Chinese character takes two columns."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _shown(text: str, limit: int) -> str:
    """A text in one line of at most so many columns, escaped for Plotly."""
    line = " ".join(plain(text).split())
    ends = list(accumulate(map(columns, line)))
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
