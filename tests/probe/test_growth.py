from __future__ import annotations

import pytest

from indexer.encode import Cost, CostTrial, Limits, Outcome
from indexer.probe import (
    Growth,
    GrowthOptions,
    fit_exponent,
    growth_csv,
    growth_json,
    growth_picture,
    growth_table,
    run_growth,
)
from indexer.probe.report import growth_from_json

LIMITS = Limits(1 << 30, 60.0)


def grows_quadratically(trial: CostTrial, _limits: Limits) -> Cost:
    if trial.length > 4096:
        return Cost(trial, Outcome.MEMORY, "more than 1.0 GiB")
    return Cost(trial, Outcome.DONE, "", 30_000_000, 2.0, 400.0, trial.length**2 / 1e6, trial.length / 10)


def measured(**changes) -> Growth:
    options = GrowthOptions(**({"models": ("bert-30m",), "limits": LIMITS, "longest": 65_536} | changes))
    return Growth(options, tuple(run_growth(options, grows_quadratically)))


def test_lengths_double_until_the_end_or_the_limit() -> None:
    assert GrowthOptions((), LIMITS, 512, 5000).lengths == (512, 1024, 2048, 4096)
    assert GrowthOptions((), LIMITS, 512, 512).lengths == (512,)
    growth = measured()
    assert [cost.trial.length for cost in growth.costs] == [512, 1024, 2048, 4096, 8192]
    assert growth.costs[-1].outcome is Outcome.MEMORY


def test_a_limit_ends_one_model_and_precision_only() -> None:
    growth = measured(models=("a", "b"), precisions=("float32", "int8"))
    assert [(curve.model, curve.precision) for curve in growth.curves] == [
        ("a", "float32"), ("a", "int8"), ("b", "float32"), ("b", "int8"),
    ]  # fmt: skip
    assert all(len(curve.done) == 4 for curve in growth.curves)


def test_the_exponent_is_the_power_of_growth() -> None:
    lengths = [512, 1024, 2048, 4096]
    exact = fit_exponent(lengths, [n**1.5 for n in lengths])
    assert exact is not None
    assert exact.value == pytest.approx(1.5)
    assert exact.error == pytest.approx(0, abs=1e-9)
    noisy = fit_exponent(lengths, [n**2 * factor for n, factor in zip(lengths, (1.0, 1.2, 0.9, 1.1), strict=True)])
    assert noisy is not None
    assert abs(noisy.value - 2) < 3 * noisy.error
    assert noisy.error > 0.01


def test_too_few_points_have_no_exponent_and_short_lengths_do_not_count() -> None:
    assert fit_exponent([1, 2], [1, 2]) is None
    assert fit_exponent([1, 2, 4], [0, 1, 2]) is None
    hidden = fit_exponent([64, 128, 256, 512, 1024, 2048], [9, 9, 9, 18, 36, 72])
    assert hidden is not None
    assert hidden.value == pytest.approx(1.0)


def test_reports_say_what_was_measured_and_what_ended_it() -> None:
    growth = measured()
    assert growth_csv(growth).splitlines()[0].startswith("model,precision,length,outcome")
    assert len(growth_csv(growth).splitlines()) == 6
    (line,) = growth_table(growth)
    assert line[:4] == ["bert-30m", "float32", "30 M", "4,096"]
    assert line[7] == "2.00 ± 0.00"
    assert line[9] == "memory limit at 8,192: more than 1.0 GiB"
    assert growth_json(growth)["curves"][0]["memory_exponent"] == {"value": 1.0, "error": 0.0}
    again = growth_from_json(growth_json(growth))
    assert [cost.trial for cost in again.costs] == [cost.trial for cost in growth.costs]
    assert [cost.outcome for cost in again.costs] == [cost.outcome for cost in growth.costs]
    assert growth_picture(growth).startswith(b"\x89PNG")


def test_a_model_that_fails_at_once_has_a_line_too() -> None:
    options = GrowthOptions(("x",), LIMITS)
    growth = Growth(options, tuple(run_growth(options, lambda trial, _: Cost(trial, Outcome.FAILED, "no such model"))))
    assert growth_table(growth)[0][-1] == "failed at 512: no such model"
    assert growth_picture(growth).startswith(b"\x89PNG")
