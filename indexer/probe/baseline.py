"""A fixed short suite, kept with machine, versions and commit, and what became slower, larger or worse since."""

from __future__ import annotations

import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from indexer.datatypes import Encoder
from indexer.encode import measure_pace
from indexer.ingest import AddOptions, add
from indexer.library import Library
from indexer.machine import read_cores, read_processor
from indexer.parse import ReadOptions
from indexer.probe.backgrounds import background_chunks
from indexer.probe.haystack import background_text, make_haystacks
from indexer.probe.needle import Measure, NeedleOptions, run_needle
from indexer.search import parse_query, rank
from indexer.search.options import SearchOptions
from indexer.settings import Settings

REPEATS = 3
_SEED = 7
_TEXTS = 64
_CHARS = 24_000
_PACKAGES = ("longdoc", "torch", "faiss-cpu", "numpy", "tokenizers")
_LEAST_CHANGE = {"seconds": 0.15, "MB": 0.10, "share": 0.02}
"""Changes below these are never reported: relative for seconds and MB, absolute for a share."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured quantity, repeated: less is better for seconds and MB, more for a share."""

    name: str
    unit: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def spread(self) -> float:
        """Half the range of the repeats, relative to the median: how much of a change may be noise."""
        return (max(self.values) - min(self.values)) / 2 / self.median if self.median else 0.0


@dataclass(frozen=True, slots=True)
class Baseline:
    """A run of the suite: when, on what, with which versions, and its figures."""

    measured: str
    machine: dict[str, str]
    versions: dict[str, str]
    commit: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A figure beside its earlier value; ``verdict`` is better, worse, or within noise."""

    name: str
    unit: str
    before: float
    after: float
    verdict: str


def run_baseline(
    backgrounds: dict[str, str], encoder: Encoder, settings: Settings, announce: Callable[[str], None]
) -> Baseline:
    """Measure encoding, ingest, search and needles, some minutes of work at most."""
    texts = _texts(backgrounds, encoder, settings)
    announce("encoding")
    paces = [measure_pace(settings.encoder, settings.precision, texts) for _ in range(REPEATS)]
    figures = [
        Figure("encode, 1,000 tokens", "seconds", tuple(1000 / pace.tokens_per_second for pace in paces)),
        Figure("encode, peak above the model", "MB", tuple(pace.peak_mb for pace in paces)),
        Figure("encode, model loaded", "MB", tuple(pace.loaded_mb for pace in paces)),
    ]
    announce("ingest and search")
    figures += _ingest_and_search(backgrounds, encoder, settings)
    announce("needles")
    report = run_needle(backgrounds, encoder, settings, NeedleOptions((1000, 20_000), (0.0, 0.5, 1.0), (_SEED,)))
    figures += [
        Figure(f"needles, {method}", "share", (report.share(method, Measure.CHUNK),))
        for method in report.methods_with(Measure.CHUNK)
    ]
    return Baseline(datetime.now(UTC).isoformat(timespec="seconds"), _machine(), _versions(), _commit(), tuple(figures))


def compare_baselines(before: Baseline, after: Baseline) -> list[Change]:
    """Every figure both have; a change counts when it exceeds the least of its unit and the noise of both runs."""
    earlier = {figure.name: figure for figure in before.figures}
    return [_change(earlier[figure.name], figure) for figure in after.figures if figure.name in earlier]


def _change(before: Figure, after: Figure) -> Change:
    least = _LEAST_CHANGE[after.unit]
    if after.unit == "share":
        gain = after.median - before.median
        noise = least
    else:
        gain = (before.median - after.median) / before.median if before.median else 0.0
        noise = max(least, 2 * before.spread, 2 * after.spread)
    verdict = "within noise" if abs(gain) <= noise else "better" if gain > 0 else "worse"
    return Change(after.name, after.unit, before.median, after.median, verdict)


def _texts(backgrounds: dict[str, str], encoder: Encoder, settings: Settings) -> list[str]:
    same = {language: background_text(text, _CHARS, str(_SEED)) for language, text in backgrounds.items()}
    return background_chunks(same, encoder, settings, _TEXTS)


def _ingest_and_search(backgrounds: dict[str, str], encoder: Encoder, settings: Settings) -> list[Figure]:
    haystacks = make_haystacks(backgrounds, (5000,), (0.0, 0.5, 1.0), _SEED)
    ingest, query = [], []
    for repeat in range(REPEATS):
        with TemporaryDirectory(prefix="longdoc-baseline-") as name:
            folder = Path(name) / "documents"
            folder.mkdir()
            for haystack in haystacks:
                (folder / haystack.name).write_text(f"Run {repeat}.\n\n{haystack.text}", encoding="utf-8")
            plain = replace(settings, library=Path(name) / "library")
            with Library.open(plain.library, plain, create=True, write=True, encoder=encoder) as library:
                start = time.perf_counter()
                add(library, [str(folder)], AddOptions(ReadOptions.from_settings(plain)))
                ingest.append(time.perf_counter() - start)
                questions = [needle.fact.question for haystack in haystacks for needle in haystack.needles]
                rank(library, parse_query(questions[0]), SearchOptions())
                start = time.perf_counter()
                for question in questions:
                    rank(library, parse_query(question), SearchOptions())
                query.append((time.perf_counter() - start) / len(questions))
    return [Figure("ingest", "seconds", tuple(ingest)), Figure("search, a query", "seconds", tuple(query))]


def _machine() -> dict[str, str]:
    memory = psutil.virtual_memory().total / (1 << 30)
    return {
        "processor": read_processor().model,
        "cores": str(read_cores().usable),
        "memory": f"{memory:.1f} GiB",
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
    }


def _versions() -> dict[str, str]:
    return {name: version(name) for name in _PACKAGES}


def _commit() -> str:
    """The commit of a checkout; empty for an installed package, or without git."""
    try:
        result = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except OSError:
        return ""
    return result.stdout.strip()


def baseline_json(baseline: Baseline) -> dict[str, Any]:
    """A baseline as JSON values."""
    return {
        "measured": baseline.measured,
        "machine": baseline.machine,
        "versions": baseline.versions,
        "commit": baseline.commit,
        "figures": [{"name": one.name, "unit": one.unit, "values": list(one.values)} for one in baseline.figures],
    }


def baseline_from_json(values: dict[str, Any]) -> Baseline:
    """The inverse of ``baseline_json``. Raises KeyError or TypeError when it is something else."""
    figures = tuple(Figure(one["name"], one["unit"], tuple(one["values"])) for one in values["figures"])
    return Baseline(values["measured"], values["machine"], values["versions"], values["commit"], figures)
