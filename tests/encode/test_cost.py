from __future__ import annotations

import subprocess
import sys

import pytest

from indexer.encode import CostTrial, Limits, Outcome, cost as module, measure_cost

ROOM = Limits(4 << 30, 300.0)


def test_a_process_beyond_its_time_or_memory_is_ended_and_told() -> None:
    idle = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], text=True)
    assert module._watch(idle, Limits(1 << 40, 0.2)) is Outcome.TIME
    assert idle.wait(10) == -9
    hungry = subprocess.Popen([sys.executable, "-c", "x = bytearray(90 << 20); import time; time.sleep(60)"], text=True)
    assert module._watch(hungry, Limits(60 << 20, 60.0)) is Outcome.MEMORY
    assert hungry.wait(10) == -9


@pytest.mark.slow
def test_a_trial_in_its_own_process_is_measured() -> None:
    cost = measure_cost(CostTrial("windows-30m", 1024), ROOM)
    assert cost.outcome is Outcome.DONE, cost.reason
    assert 27e6 < cost.parameters < 33e6
    assert cost.seconds > 0
    assert cost.tokens_per_second > 0
    assert cost.peak_mb > 1


@pytest.mark.slow
def test_a_model_that_is_not_there_is_a_result() -> None:
    cost = measure_cost(CostTrial("no-such-model", 128), ROOM)
    assert cost.outcome is Outcome.FAILED
    assert "neither an architecture" in cost.reason
