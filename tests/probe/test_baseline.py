from __future__ import annotations

import json

import pytest

from indexer.probe import baseline as module
from indexer.probe.baseline import Baseline, Figure, baseline_from_json, baseline_json, compare_baselines


def kept(*figures: Figure) -> Baseline:
    return Baseline("2026-01-02T03:04:05+00:00", {"processor": "chip"}, {"torch": "2.13.0"}, "abc1234", figures)


@pytest.mark.parametrize(
    ("unit", "before", "after", "verdict"),
    [
        ("seconds", (1.0, 1.0, 1.0), (1.1, 1.1, 1.1), "within noise"),
        ("seconds", (1.0, 1.0, 1.0), (1.5, 1.5, 1.5), "worse"),
        ("seconds", (1.0, 1.0, 1.0), (0.5, 0.5, 0.5), "better"),
        ("seconds", (0.6, 1.0, 1.4), (1.5, 1.5, 1.5), "within noise"),
        ("MB", (100.0,), (120.0,), "worse"),
        ("share", (1.0,), (0.9,), "worse"),
        ("share", (0.9,), (1.0,), "better"),
        ("share", (1.0,), (0.99,), "within noise"),
    ],
)
def test_a_change_counts_beyond_the_noise_only(unit: str, before: tuple, after: tuple, verdict: str) -> None:
    (change,) = compare_baselines(kept(Figure("x", unit, before)), kept(Figure("x", unit, after)))
    assert change.verdict == verdict


def test_figures_that_only_one_run_has_are_left_out() -> None:
    old, new = Figure("old", "seconds", (1.0,)), Figure("new", "seconds", (1.0,))
    assert compare_baselines(kept(old), kept(new)) == []


def test_a_report_is_read_back_as_it_was() -> None:
    report = kept(Figure("x", "seconds", (1.0, 2.0)))
    assert baseline_from_json(json.loads(json.dumps(baseline_json(report)))) == report


def test_machine_versions_and_commit_are_recorded() -> None:
    assert set(module._machine()) == {"processor", "cores", "memory", "system"}
    assert module._versions()["torch"].startswith("2.13")
    assert len(module._commit()) in range(13)
