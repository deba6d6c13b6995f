"""Probe results as tables, CSV and JSON, and the last of each kept in the cache for the Health page."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from indexer.encode import Cost, CostTrial, Limits, Outcome
from indexer.probe.growth import Curve, Exponent, Growth, GrowthOptions
from indexer.probe.needle import Measure, NeedleReport, NeedleResult
from indexer.settings import Settings

_COLUMNS = (
    "model", "precision", "length", "outcome", "seconds", "tokens_per_second", "peak_mb", "loaded_mb", "load_seconds",
    "parameters", "reason",
)  # fmt: skip


def cost_row(cost: Cost) -> dict[str, Any]:
    """One trial as named values."""
    return {
        "model": cost.trial.model,
        "precision": cost.trial.precision,
        "length": cost.trial.length,
        "rope_scaling": cost.trial.rope,
        "outcome": cost.outcome.value,
        "reason": cost.reason,
        "seconds": round(cost.seconds, 4),
        "tokens_per_second": round(cost.tokens_per_second, 1),
        "peak_mb": round(cost.peak_mb, 1),
        "loaded_mb": round(cost.loaded_mb, 1),
        "load_seconds": round(cost.load_seconds, 2),
        "parameters": cost.parameters,
    }


def growth_csv(growth: Growth) -> str:
    """Every trial as a line of CSV below a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(cost_row(cost) for cost in growth.costs)
    return text.getvalue()


def growth_json(growth: Growth) -> dict[str, Any]:
    """Everything a run measured, as JSON values."""
    return {
        "limits": asdict(growth.options.limits),
        "rope_scaling": growth.options.rope,
        "trials": [cost_row(cost) for cost in growth.costs],
        "curves": [
            {
                "model": curve.model,
                "precision": curve.precision,
                "longest": max((cost.trial.length for cost in curve.done), default=0),
                "time_exponent": _exponent(curve.time),
                "memory_exponent": _exponent(curve.memory),
            }
            for curve in growth.curves
        ],
    }


def growth_from_json(values: dict[str, Any]) -> Growth:
    """The inverse of ``growth_json``. Raises KeyError or TypeError when it is something else."""
    costs = tuple(_cost(row) for row in values["trials"])
    lengths = [cost.trial.length for cost in costs] or [512]
    options = GrowthOptions(
        models=tuple(dict.fromkeys(cost.trial.model for cost in costs)),
        limits=Limits(**values["limits"]),
        shortest=min(lengths),
        longest=max(lengths),
        precisions=tuple(dict.fromkeys(cost.trial.precision for cost in costs)),
        rope=values["rope_scaling"],
    )
    return Growth(options, costs)


GROWTH_HEADER = (
    "MODEL", "PRECISION", "PARAMETERS", "LONGEST", "SECONDS", "TOKENS/S", "PEAK MB", "TIME ~ n^", "MEMORY ~ n^", "THEN",
)  # fmt: skip


def growth_table(growth: Growth) -> list[list[str]]:
    """A line for each curve, below ``GROWTH_HEADER``: what it managed, its pace there, and how it grows."""
    return [_curve_line(curve) for curve in growth.curves]


def _curve_line(curve: Curve) -> list[str]:
    name = Path(curve.model).name
    last = curve.costs[-1]
    then = "" if last.outcome is Outcome.DONE else f"{last.outcome.value} at {last.trial.length:,}: {last.reason}"
    if not curve.done:
        return [name, curve.precision, "-", "-", "-", "-", "-", "-", "-", then]
    best = curve.done[-1]
    return [
        name,
        curve.precision,
        f"{best.parameters / 1e6:.0f} M",
        f"{best.trial.length:,}",
        f"{best.seconds:.2f}",
        f"{best.tokens_per_second:,.0f}",
        f"{best.peak_mb:,.0f}",
        _shown(curve.time),
        _shown(curve.memory),
        then,
    ]


def keep(settings: Settings, name: str, values: dict[str, Any]) -> Path:
    """Keep a result as the last of its kind in the user's cache, in place of the one before."""
    path = settings.cache / "probe" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(values, ensure_ascii=False, indent=1), encoding="utf-8")
    part.replace(path)
    return path


def kept(settings: Settings, name: str) -> dict[str, Any] | None:
    """The last result of a kind; None when there is none or it cannot be read any more."""
    try:
        values = json.loads((settings.cache / "probe" / f"{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # never measured, or damaged: either way there is nothing to show and a new run replaces it
    return values if isinstance(values, dict) else None


def last_growth(settings: Settings) -> Growth | None:
    """The last growth measurement on this machine, for the Health page."""
    values = kept(settings, "growth")
    try:
        return growth_from_json(values) if values else None
    except (KeyError, TypeError, ValueError):
        return None  # written by another version: a new run replaces it


def _cost(row: dict[str, Any]) -> Cost:
    trial = CostTrial(row["model"], row["length"], row["precision"], row["rope_scaling"])
    figures = {name: row[name] for name in ("parameters", "load_seconds", "loaded_mb", "seconds", "peak_mb")}
    return Cost(trial, Outcome(row["outcome"]), row["reason"], **figures)


def _exponent(exponent: Exponent | None) -> dict[str, float] | None:
    return {"value": round(exponent.value, 3), "error": round(exponent.error, 3)} if exponent else None


def _shown(exponent: Exponent | None) -> str:
    return f"{exponent.value:.2f} ± {exponent.error:.2f}" if exponent else "-"


def needle_json(report: NeedleReport) -> dict[str, Any]:
    """Everything a needle run found, as JSON values."""
    return {
        "documents": report.documents,
        "background": report.background,
        "lengths": list(report.lengths),
        "depths": list(report.depths),
        "shares": {
            measure.value: {method: round(report.share(method, measure), 4) for method in report.methods_with(measure)}
            for measure in Measure
        },
        "results": [asdict(result) for result in report.results],
    }


def needle_from_json(values: dict[str, Any]) -> NeedleReport:
    """The inverse of ``needle_json``. Raises KeyError or TypeError when it is something else."""
    results = tuple(NeedleResult(**row) for row in values["results"])
    return NeedleReport(results, values["documents"], values["background"])


def needle_table(report: NeedleReport, measure: Measure) -> list[list[str]]:
    """A header and a line for each method: the share found by length in characters, by language, and in all."""
    languages = report.languages if len(report.languages) > 1 else ()
    lines = [[measure.value.upper(), *(f"{length:,}" for length in report.lengths), *map(str.upper, languages), "ALL"]]
    for method in report.methods_with(measure):
        shares = [report.share(method, measure, length=length) for length in report.lengths]
        shares += [report.share(method, measure, language=language) for language in languages]
        lines.append([method, *(f"{share:.0%}" for share in (*shares, report.share(method, measure)))])
    return lines


def missed(report: NeedleReport, method: str, measure: Measure) -> list[NeedleResult]:
    """The needles that a method did not find by a measure."""
    return [one for one in report.results if one.method == method and not one.found(measure)]


def last_needle(settings: Settings) -> NeedleReport | None:
    """The last needle measurement on this machine, for the Health page."""
    values = kept(settings, "needle")
    try:
        return needle_from_json(values) if values else None
    except (KeyError, TypeError, ValueError):
        return None  # written by another version: a new run replaces it
