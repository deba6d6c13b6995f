"""The map as a file: a PNG picture, or an HTML page that needs nothing but itself."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template

from indexer.clusters.picture import write_png
from indexer.clusters.results import Clustering
from indexer.errors import LongdocError

COLOURS = (
    "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e", "#2f6f7e",
    "#8c564b", "#bcbd22",
)  # fmt: skip
OUTLIER = "#b0b0b0"


def plot(clustering: Clustering, titles: Mapping[int, str], path: Path) -> None:
    """Write the map to ``path``, as HTML or PNG by its ending. Raises LongdocError when that cannot be done."""
    ending = path.suffix.lower()
    if ending not in (".html", ".htm", ".png"):
        raise LongdocError(f"The map can be written as .html or .png, not as {ending or 'a file without an ending'!r}.")
    try:
        if ending == ".png":
            write_png(clustering, _colours(clustering), path)
        else:
            path.write_text(to_html(clustering, titles), encoding="utf-8")
    except OSError as error:
        raise LongdocError(f"The map cannot be written to {path}: {error.strerror or error}.") from error


def to_html(clustering: Clustering, titles: Mapping[int, str]) -> str:
    """The map as one HTML page without any outside part; titles are text in it, never markup."""
    colours = _colours(clustering)
    data = [
        [
            p.x,
            p.y,
            p.cluster if p.cluster is not None else 0,
            colours[p.cluster],
            titles.get(p.document, str(p.document)),
        ]
        for p in clustering.points
    ]
    entries = [(c.id, c.label, c.size) for c in clustering.clusters]
    if clustering.outliers:
        entries.append((0, "outliers", len(clustering.outliers)))
    legend = "".join(
        f'<li><button data-cluster="{number}"><i style="background:{colours[number or None]}"></i> '
        f"{html.escape(label)} ({size})</button></li>"
        for number, label, size in entries
    )
    names = [[cluster.id, cluster.label] for cluster in clustering.clusters]
    safe = json.dumps({"points": data, "names": names}, ensure_ascii=True)
    safe = safe.replace("<", "\\u003c").replace("&", "\\u0026")
    page = Template(files("indexer.clusters").joinpath("map.html").read_text(encoding="utf-8"))
    return page.substitute(
        heading=f"{len(clustering.points)} documents, {len(clustering.clusters)} clusters",
        criterion=html.escape(clustering.criterion),
        legend=legend,
        data=safe,
    )


def _colours(clustering: Clustering) -> dict[int | None, str]:
    """A colour for each cluster, by its id, so that a cluster keeps its colour; grey for outliers."""
    colours: dict[int | None, str] = {c.id: COLOURS[(c.id - 1) % len(COLOURS)] for c in clustering.clusters}
    return colours | {None: OUTLIER}
