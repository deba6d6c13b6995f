"""The map as a PNG picture: a dot for each document, a label beside each cluster, in a font that has its characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from indexer.clusters.results import Cluster, Clustering

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

_BASE = "DejaVu Sans"
"""Comes with matplotlib: Latin, Greek, Cyrillic, Arabic and more, but no Chinese."""

_LIKELY = ("notosanscjk", "sourcehansans", "wqy-microhei", "wqy-zenhei", "msyh", "simhei", "pingfang", "hiragino")
"""Parts of the file names of fonts that look well beside it, looked at first."""

_SPOTS = 12
_REACH = 4
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
    """Move each label to the spot around its cluster where it covers the fewest dots and no label before it."""
    to_pixels, to_data = axes.transData, axes.transData.inverted()
    dots = to_pixels.transform(place) if len(place) else place
    frame = axes.get_window_extent()
    taken: list[Bbox] = []
    for text in texts:
        box = text.get_window_extent().padded(6)
        middle = to_pixels.transform(text.get_position())
        spots = [spot for spot in _around(middle, box) if _inside(_moved(box, middle, spot), frame)] or [middle]
        best = min(spots, key=lambda spot: _cost(_moved(box, middle, spot), spot - middle, taken, dots))
        taken.append(_moved(box, middle, best))
        text.set_position(tuple(to_data.transform(best)))


def _around(middle: NDArray[np.float64], box: Bbox) -> Iterator[NDArray[np.float64]]:
    """The middle, and spots on rings around it that are as flat as the label."""
    yield middle
    for ring in range(1, _REACH + 1):
        for angle in np.linspace(0, 2 * np.pi, _SPOTS, endpoint=False) + np.pi / 2:
            yield middle + ring * np.array([np.cos(angle) * box.width / 2, np.sin(angle) * box.height])


def _moved(box: Bbox, middle: NDArray[np.float64], spot: NDArray[np.float64]) -> Bbox:
    return box.translated(*(spot - middle))


def _inside(box: Bbox, frame: Bbox) -> bool:
    return bool(frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1)


def _cost(box: Bbox, way: NDArray[np.float64], taken: Sequence[Bbox], dots: NDArray[np.float64]) -> float:
    """What a spot is worth: a label covered is worst, then dots covered, then the way from its cluster."""
    under = ((dots >= (box.x0, box.y0)) & (dots <= (box.x1, box.y1))).all(axis=1).sum() if len(dots) else 0
    return 1000.0 * sum(box.overlaps(other) for other in taken) + 3.0 * float(under) + float(np.hypot(*way)) / 12


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
