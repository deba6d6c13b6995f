"""How time and memory grow with the length of a text: trials with doubling lengths until a limit is reached."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from indexer.encode import Cost, CostTrial, Limits, Outcome, measure_cost

Measure = Callable[[CostTrial, Limits], Cost]
_TAIL = 4


@dataclass(frozen=True, slots=True)
class GrowthOptions:
    """What to measure: every model in every precision, from ``shortest`` tokens on, doubling up to ``longest``."""

    models: tuple[str, ...]
    limits: Limits = Limits(4 << 30, 120.0)
    shortest: int = 512
    longest: int = 16_384
    precisions: tuple[str, ...] = ("float32",)
    rope: str | None = None

    @property
    def lengths(self) -> tuple[int, ...]:
        """The lengths to try, in tokens."""
        count = max(0, int(math.log2(self.longest / self.shortest)) if self.longest >= self.shortest else -1)
        return tuple(self.shortest << step for step in range(count + 1))


@dataclass(frozen=True, slots=True)
class Exponent:
    """The power with which something grows with length, by least squares of logarithms, and its standard error."""

    value: float
    error: float


@dataclass(frozen=True, slots=True)
class Curve:
    """One model in one precision: its trials by length, and how time and memory grow (None: too few points)."""

    model: str
    precision: str
    costs: tuple[Cost, ...]
    time: Exponent | None
    memory: Exponent | None

    @property
    def done(self) -> tuple[Cost, ...]:
        """The trials that ran to their end."""
        return tuple(cost for cost in self.costs if cost.outcome is Outcome.DONE)


@dataclass(frozen=True, slots=True)
class Growth:
    """What a run of the probe measured, and under which limits."""

    options: GrowthOptions
    costs: tuple[Cost, ...]

    @property
    def curves(self) -> tuple[Curve, ...]:
        """The measurements, a curve for each model and precision, in the order they were made."""
        keys = dict.fromkeys((cost.trial.model, cost.trial.precision) for cost in self.costs)
        return tuple(_curve(*key, self.costs) for key in keys)


def run_growth(options: GrowthOptions, measure: Measure = measure_cost) -> Iterator[Cost]:
    """Make the trials one after the other, giving each result as soon as it is there.

    A model's lengths end with the first that reaches a limit or fails: longer ones would too.
    """
    for model in options.models:
        for precision in options.precisions:
            for length in options.lengths:
                cost = measure(CostTrial(model, length, precision, options.rope), options.limits)
                yield cost
                if cost.outcome is not Outcome.DONE:
                    break


def fit_exponent(lengths: Sequence[float], values: Sequence[float]) -> Exponent | None:
    """The slope of log(value) over log(length) with its standard error; None below three positive points.

    Only the four longest count: at short lengths a fixed cost hides the growth.
    """
    points = [(x, y) for x, y in zip(lengths, values, strict=True) if x > 0 and y > 0][-_TAIL:]
    if len(points) < 3:
        return None
    x, y = np.log(np.array(points)).T
    spread = float(((x - x.mean()) ** 2).sum())
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
    residual = y - y.mean() - slope * (x - x.mean())
    return Exponent(slope, math.sqrt(float((residual**2).sum()) / (len(points) - 2) / spread))


def _curve(model: str, precision: str, costs: Sequence[Cost]) -> Curve:
    own = tuple(cost for cost in costs if (cost.trial.model, cost.trial.precision) == (model, precision))
    done = [cost for cost in own if cost.outcome is Outcome.DONE]
    lengths = [cost.trial.length for cost in done]
    return Curve(
        model,
        precision,
        own,
        fit_exponent(lengths, [cost.seconds for cost in done]),
        fit_exponent(lengths, [cost.peak_mb for cost in done]),
    )
