from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from indexer import machine
from indexer.machine import available_memory, cpu_quota, give_back_memory, memory_limit

GIB = 1 << 30


def test_the_tightest_quota_of_the_enclosing_groups_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    (inner / "cpu.max").write_text("max 100000\n")
    (tmp_path / "outer" / "cpu.max").write_text("150000 100000\n")
    (tmp_path / "cpu.max").write_text("400000 100000\n")
    (inner / "memory.max").write_text("1073741824\n")
    monkeypatch.setattr("indexer.machine._groups", lambda root: [inner, inner.parent, root])
    assert cpu_quota(tmp_path) == 1.5
    assert memory_limit(tmp_path) == GIB


def test_version_1_quotas_are_read(tmp_path: Path) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("200000\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert cpu_quota(tmp_path) == 2.0
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("-1\n")
    assert cpu_quota(tmp_path) is None


def test_what_is_available_keeps_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    rss = psutil.Process().memory_info().rss
    monkeypatch.setattr(machine, "memory_limit", lambda: rss + 50_000_000)
    assert 0 < available_memory() <= 60_000_000
    monkeypatch.setattr(machine, "memory_limit", lambda: 1)
    assert available_memory() == 0


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc's allocator can be asked")
def test_what_lies_free_between_what_is_used_goes_back_to_the_system() -> None:
    resident = psutil.Process().memory_info
    held = [bytes([number % 250 + 1]) * 3_000 for number in range(40_000)]
    kept = held[::20]
    before = resident().rss
    del held
    give_back_memory()
    assert before - resident().rss > 40_000_000
    assert len(kept) == 2_000


LARGE_BLOCKS = """
import sys
import numpy as np, psutil
from indexer.machine import keep_large_blocks_apart
if "apart" in sys.argv:
    keep_large_blocks_apart()
del (first := [np.ones(20_000_000, dtype=np.uint8)])[0]  # glibc now takes blocks of this size for passing ones
held = [np.ones(3_000_000, dtype=np.uint8) for _ in range(40)]
before = psutil.Process().memory_info().rss
del held[:-1]
print(before - psutil.Process().memory_info().rss)
"""


def test_large_blocks_go_back_to_the_system_when_they_are_free() -> None:
    freed = {
        how: int(subprocess.run([sys.executable, "-c", LARGE_BLOCKS, how], capture_output=True, check=True).stdout)
        for how in ("apart", "as it comes")
    }
    assert freed["apart"] > 110_000_000
    assert freed["as it comes"] < 10_000_000, "then the setting is not needed any more"
