"""What this machine is: its processor, the cores and the memory that a process may use, containers' limits included."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

_M_MMAP_THRESHOLD = -3  # malloc.h
_LARGE_BLOCK = 1 << 20  # measured with `tests.benchmarks.length`
_INSTRUCTION_SETS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("AVX2", ("avx2",)),
    ("AVX-512", ("avx512f",)),
    ("VNNI", ("avx512_vnni", "avx_vnni")),
    ("BF16", ("avx512_bf16", "amx_bf16")),
    ("AMX", ("amx_tile",)),
    ("NEON", ("asimd",)),
)


@dataclass(frozen=True, slots=True)
class Processor:
    """A processor's name and instruction sets."""

    model: str
    flags: frozenset[str]

    def has(self, name: str) -> bool:
        """Whether an instruction set of ``_INSTRUCTION_SETS`` is there."""
        return any(flag in self.flags for flag in dict(_INSTRUCTION_SETS)[name])


@dataclass(frozen=True, slots=True)
class Cores:
    """Cores by hardware, by hyper-threading, and by what this process may use (affinity, cgroup quota)."""

    physical: int
    logical: int
    allowed: int
    quota: float | None

    @property
    def usable(self) -> int:
        """How many threads can really run at once: physical cores, cut by affinity and quota, at least 1."""
        return max(1, min(self.physical, self.allowed, int(self.quota or self.allowed)))


def read_processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> Processor:
    """What the kernel says of the first processor; on other systems only its name."""
    values: dict[str, str] = {}
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            values.setdefault(key.strip(), value.strip())
    model = values.get("model name") or platform.processor() or platform.machine()
    return Processor(model, frozenset((values.get("flags") or values.get("Features") or "").split()))


def read_cores(root: Path = Path("/sys/fs/cgroup")) -> Cores:
    """The cores of this machine and what of them this process may use."""
    logical = os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else logical
    return Cores(psutil.cpu_count(logical=False) or logical, logical, allowed, cpu_quota(root))


def cpu_quota(root: Path) -> float | None:
    """Cores that the cgroup (version 2 or 1) grants, the tightest of the enclosing groups; None without a limit."""
    quotas = []
    for folder in _groups(root):
        if (text := _read(folder / "cpu.max")) and (parts := text.split())[0] != "max":
            quotas.append(int(parts[0]) / int(parts[1]))
    quota, period = _read(root / "cpu" / "cpu.cfs_quota_us"), _read(root / "cpu" / "cpu.cfs_period_us")
    if quota and period and int(quota) > 0:
        quotas.append(int(quota) / int(period))
    return min(quotas, default=None)


def memory_limit(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Bytes that the cgroup or the process limit grants, the tightest; None without a limit."""
    limits = [int(text) for folder in _groups(root) if (text := _read(folder / "memory.max")) and text != "max"]
    if old := _read(root / "memory" / "memory.limit_in_bytes"):
        limits.append(int(old))
    address_space = resource.getrlimit(resource.RLIMIT_AS)[0]
    if address_space != resource.RLIM_INFINITY:
        limits.append(address_space)
    return min((limit for limit in limits if limit < psutil.virtual_memory().total), default=None)


def _groups(root: Path) -> Iterator[Path]:
    """The cgroup of this process and those around it, up to the root."""
    text = _read(Path("/proc/self/cgroup")) or ""
    inner = next((line[3:] for line in text.splitlines() if line.startswith("0::")), "/").strip("/")
    folder = root / inner if inner else root
    while folder != root:
        yield folder
        folder = folder.parent
    yield root


def _read(path: Path) -> str | None:
    """A small kernel file's text, or None where this kernel does not have it."""
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return None


def give_back_memory() -> None:
    """Hand what the allocator keeps for later back to the system, where it can (glibc): some milliseconds."""
    if (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)


def keep_large_blocks_apart() -> None:
    """Have the allocator (glibc) return every block of a megabyte or more as soon as it is free.

    Left to itself it raises that border to 32 MB as such blocks come and go, and keeps what lies between those still in
    use: arrays of ever other sizes, as batches of other lengths need them, then take more and more memory.
    """
    if (set_option := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        set_option(_M_MMAP_THRESHOLD, _LARGE_BLOCK)


def available_memory() -> int:
    """Bytes this process could still take: what is free, or what its limit leaves over, whichever is less."""
    free = psutil.virtual_memory().available
    limit = memory_limit()
    return free if limit is None else max(0, min(free, limit - psutil.Process().memory_info().rss))
