"""Probe results as PNG pictures: curves of growth, and heat maps of needles."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from indexer.encode import Outcome
from indexer.probe.growth import Curve, Exponent, Growth
from indexer.probe.needle import Measure, NeedleReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DPI = 130
_COLUMNS = 3


def growth_picture(growth: Growth) -> bytes:
    """Seconds and peak memory over length, both axes logarithmic, a line for each model and precision; PNG."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    figure = Figure(figsize=(11, 5.4), layout="constrained")
    time_axes, memory_axes = figure.subplots(1, 2)
    for curve in growth.curves:
        lengths = [cost.trial.length for cost in curve.done]
        for axes, values, exponent in (
            (time_axes, [cost.seconds for cost in curve.done], curve.time),
            (memory_axes, [max(cost.peak_mb, 0.1) for cost in curve.done], curve.memory),
        ):
            axes.loglog(lengths, values, marker="o", markersize=4, label=_label(curve, exponent), base=2)
    plain = FuncFormatter(lambda value, _place: f"{value:,.4g}" if value < 1000 else f"{value:,.0f}")
    for axes, title in ((time_axes, "Seconds for one text"), (memory_axes, "Peak memory above the loaded model, MB")):
        axes.set_title(title)
        axes.set_xlabel("tokens")
        axes.xaxis.set_major_formatter(plain)
        axes.yaxis.set_major_formatter(plain)
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize=7)
    return _png(figure)


def _label(curve: Curve, exponent: Exponent | None) -> str:
    """A model's name, its precision where that is not the usual one, how it grows, and where it came to its end."""
    name = Path(curve.model).name + ("" if curve.precision == "float32" else f", {curve.precision}")
    power = f"  ~ n^{exponent.value:.1f}" if exponent else ""
    last = curve.costs[-1]
    end = "" if last.outcome is Outcome.DONE else f"  ({last.outcome.value} at {last.trial.length:,})"
    return name + power + end


def needle_picture(report: NeedleReport) -> bytes:
    """The share of needles found, depth down and length across: a map for each way of searching and measure; PNG."""
    from matplotlib.figure import Figure

    maps = [(measure, method) for measure in Measure for method in report.methods_with(measure)]
    rows = -(-len(maps) // _COLUMNS)
    figure = Figure(figsize=(3.6 * _COLUMNS, 2.6 * rows + 0.5), layout="constrained")
    for place, (measure, method) in enumerate(maps, start=1):
        axes = figure.add_subplot(rows, _COLUMNS, place)
        grid = report.grid(method, measure)
        axes.imshow(grid, vmin=0, vmax=1, cmap="RdYlGn", aspect="auto")
        for (depth, length), share in np.ndenumerate(grid):
            axes.text(length, depth, f"{share:.0%}", ha="center", va="center", fontsize=6)
        _tick(axes, [_short(length) for length in report.lengths], [f"{depth:.0%}" for depth in report.depths])
        axes.set_title(f"{method}: {measure.value}", fontsize=8)
        axes.set_xlabel("characters", fontsize=7)
        axes.set_ylabel("depth", fontsize=7)
    figure.suptitle("Share of planted facts found", fontsize=10)
    return _png(figure)


def _tick(axes: Axes, columns: Sequence[str], rows: Sequence[str]) -> None:
    axes.set_xticks(np.arange(len(columns)), columns, fontsize=7)
    axes.set_yticks(np.arange(len(rows)), rows, fontsize=7)


def _short(length: int) -> str:
    return f"{length // 1_000_000}M" if length >= 1_000_000 else f"{length // 1000}k"


def _png(figure: Figure) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=_DPI)
    return content.getvalue()
