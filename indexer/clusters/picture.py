"""The map as a PNG picture: a dot for each document, a label beside each cluster, in a font that has its characters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from indexer.clusters.results import Cluster, Clustering
from indexer.clusters.spots import LabelBox, label_spots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

_BASE = "DejaVu Sans"
"""Comes with matplotlib: Latin, Greek, Cyrillic, Arabic and more, but no Chinese."""

_LIKELY = ("notosanscjk", "sourcehansans", "wqy-microhei", "wqy-zenhei", "msyh", "simhei", "pingfang", "hiragino")
"""Parts of the file names of fonts that look well beside it, looked at first."""

_SIZE = (12, 8)
_DPI = 120


@dataclass(frozen=True, slots=True)
class Fonts:
    """The names of fonts to draw with, in order, and the characters that none of them has."""

    families: tuple[str, ...]
    missing: frozenset[str]


def write_png(clustering: Clustering, colours: Mapping[int | None, str], path: Path) -> None:
    """Draw without a display. Where no font has a label's characters, its cluster's number stands. Raises OSError."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    fonts = fonts_for("".join(cluster.label for cluster in clustering.clusters))
    figure = Figure(figsize=_SIZE, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.margins(0.08)
    axes.set_title(_title(clustering, fonts), fontsize=11)
    points = clustering.points
    place = np.array([(p.x, p.y) for p in points], dtype=np.float64).reshape(-1, 2)
    size = 3 if len(points) > 5000 else 14
    axes.scatter(place[:, 0], place[:, 1], s=size, c=[colours[p.cluster] for p in points], lw=0)
    of = np.array([p.cluster or 0 for p in points], dtype=np.int64)
    named = [cluster for cluster in clustering.clusters if (of == cluster.id).any()]
    texts = [_label(axes, cluster, place[of == cluster.id], colours[cluster.id], fonts) for cluster in named]
    canvas.draw()  # type: ignore[no-untyped-call]  # matplotlib has not typed it
    _put_apart(axes, texts, place)
    figure.savefig(path, dpi=_DPI)


def _title(clustering: Clustering, fonts: Fonts) -> str:
    counts = f"{len(clustering.points)} documents, {len(clustering.clusters)} clusters"
    outliers = f", {len(clustering.outliers)} outliers" if clustering.outliers else ""
    return counts + outliers + ("; a number: no font here has the label's characters" if fonts.missing else "")


def _label(axes: Axes, cluster: Cluster, members: NDArray[np.float64], colour: str, fonts: Fonts) -> Text:
    """The label of a cluster at the middle of its members, dark with a light edge, with a line below in its colour."""
    from matplotlib.patheffects import withStroke

    shown = f"#{cluster.id}" if fonts.missing & set(cluster.label) else cluster.label.replace("$", r"\$")
    x, y = np.median(members, axis=0)
    return axes.text(
        x, y, shown, ha="center", va="center", fontfamily=list(fonts.families), fontsize=9, color="#222222",
        bbox={"boxstyle": "round,pad=0.25", "fc": "white", "ec": colour, "alpha": 0.85},
        path_effects=[withStroke(linewidth=2, foreground="white")],
    )  # fmt: skip


def _put_apart(axes: Axes, texts: Sequence[Text], place: NDArray[np.float64]) -> None:
    """Move labels off the dots and off each other."""
    frame = axes.get_window_extent()
    boxes = []
    for text in texts:
        size = text.get_window_extent().padded(6)
        x, y = axes.transData.transform(text.get_position())
        boxes.append(LabelBox(x, y, size.width, size.height))
    spots = label_spots(boxes, axes.transData.transform(place), np.array(frame.min), np.array(frame.max))
    for text, spot in zip(texts, axes.transData.inverted().transform(spots), strict=True):
        text.set_position(tuple(spot))


def fonts_for(text: str) -> Fonts:
    """Fonts of this system that together have the characters of a text, the base font first."""
    from matplotlib import font_manager

    families = [_BASE]
    missing = _lacking(font_manager.findfont(_BASE), {letter for letter in text if not letter.isspace()})
    for path in _likely_first(font_manager.findSystemFonts()) if missing else ():
        left = _lacking(path, missing)
        if left < missing:
            font_manager.fontManager.addfont(path)
            families.append(font_manager.get_font(path).family_name)
            missing = left
        if not missing:
            break
    return Fonts(tuple(families), frozenset(missing))


def _likely_first(paths: Iterable[str]) -> list[str]:
    def rank(path: str) -> tuple[int, str]:
        name = Path(path).name.lower()
        return next((place for place, part in enumerate(_LIKELY) if part in name), len(_LIKELY)), path

    return sorted(paths, key=rank)


def _lacking(path: str, letters: set[str]) -> set[str]:
    """Those of the letters that the font in a file does not have; all of them when it cannot be read."""
    return {letter for letter in letters if ord(letter) not in _characters(path)}


@cache
def _characters(path: str) -> frozenset[int]:
    from matplotlib import font_manager

    try:
        return frozenset(font_manager.get_font(path).get_charmap())
    except (OSError, RuntimeError):  # what FreeType cannot open or matplotlib cannot use, such as coloured pictures
        return frozenset()
