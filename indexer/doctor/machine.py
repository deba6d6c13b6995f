"""The machine: processor and instruction sets, cores against quotas, memory against limits, disk space and speed."""

from __future__ import annotations

import os
import platform
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from indexer.doctor.report import Finding, judge

LAYER = "machine"
GIB = 1 << 30
_INSTRUCTION_SETS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("AVX2", ("avx2",)),
    ("AVX-512", ("avx512f",)),
    ("VNNI", ("avx512_vnni", "avx_vnni")),
    ("BF16", ("avx512_bf16", "amx_bf16")),
    ("AMX", ("amx_tile",)),
    ("NEON", ("asimd",)),
)
_X86_ONLY = ("AVX2", "AVX-512", "VNNI", "BF16", "AMX")
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_WRITE_BYTES = 32 << 20


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


def examine_machine(folder: Path, environment: Mapping[str, str]) -> Iterator[Finding]:
    """The machine's lines; ``folder`` is where the library lies or will lie."""
    processor, cores = read_processor(), read_cores()
    yield processor_finding(processor)
    yield cores_finding(cores)
    yield threads_finding(environment, cores)
    yield memory_finding(psutil.virtual_memory().total, psutil.virtual_memory().available, memory_limit())
    yield from disk_findings(folder)


def processor_finding(processor: Processor) -> Finding:
    """Which instruction sets there are; without AVX2 (or NEON) encoding is several times slower."""
    arm = processor.has("NEON")
    names = ["NEON"] if arm else list(_X86_ONLY)
    text = f"{processor.model}: " + ", ".join(f"{name} {'yes' if processor.has(name) else 'no'}" for name in names)
    slow = bool(processor.flags) and not arm and not processor.has("AVX2")
    warn = (
        "This processor has no AVX2: encoding will be several times slower. A newer machine helps most." if slow else ""
    )
    return judge(LAYER, "processor", text, warn=warn)


def cores_finding(cores: Cores) -> Finding:
    """Cores against affinity, quota and hyper-threads."""
    text = f"{cores.physical} cores, {cores.logical} hardware threads, {cores.allowed} allowed to this process"
    text += f", quota {cores.quota:g} cores" if cores.quota is not None else ", no quota"
    warn = ""
    if cores.quota is not None and cores.quota < cores.allowed:
        warn = (
            f"The container may use {cores.quota:g} of {cores.allowed} cores: set LONGDOC_THREADS={cores.usable}, "
            "or raise the quota; more threads than cores make encoding slower."
        )
    return judge(LAYER, "cores", text, warn=warn)


def threads_finding(environment: Mapping[str, str], cores: Cores) -> Finding:
    """Whether variables about threads contradict each other or the machine."""
    given = {name: environment[name] for name in (*_THREAD_VARIABLES, "LONGDOC_THREADS") if environment.get(name)}
    text = ", ".join(f"{name}={value}" for name, value in given.items()) or "no variable sets a number of threads"
    warn = ""
    if len(set(given.values())) > 1:
        warn = "These variables contradict each other: keep one of them, or none."
    elif any(value.isdigit() and int(value) > cores.usable for value in given.values()):
        warn = f"More threads than the {cores.usable} cores that can be used: encoding gets slower. Unset the variable."
    return judge(LAYER, "thread settings", text, warn=warn)


def memory_finding(total: int, available: int, limit: int | None) -> Finding:
    """Memory in all, free, and allowed; an encoder with its batches takes about one and a half GiB."""
    text = f"{total / GIB:.1f} GiB, {available / GIB:.1f} GiB free"
    text += f", limited to {limit / GIB:.1f} GiB" if limit is not None else ", no limit"
    usable = min(available, limit or available)
    advice = "Close other programs, or set LONGDOC_MEMORY lower so that smaller batches are used."
    return judge(
        LAYER, "memory", text, warn=advice if usable < 2 * GIB else "", fail=advice if usable < GIB // 2 else ""
    )


def disk_findings(folder: Path) -> Iterator[Finding]:
    """Space and write speed where the library lies."""
    place = next(path for path in (folder, *folder.absolute().parents) if path.is_dir())
    free = shutil.disk_usage(place).free
    advice = "Free some space, or put the library elsewhere with --library."
    yield judge(
        LAYER,
        "disk space",
        f"{free / GIB:.1f} GiB free at {place}",
        warn=advice if free < 5 * GIB else "",
        fail=advice if free < GIB // 4 else "",
    )
    try:
        speed = write_speed(place)
    except OSError as error:
        yield judge(
            LAYER,
            "disk speed",
            f"nothing can be written in {place}: {error.strerror}",
            fail="Make the folder writable, or name another with --library.",
        )
        return
    slow = "Writing is slow here (a network disk?): put the library on a local disk." if speed < 20e6 else ""
    yield judge(LAYER, "disk speed", f"{speed / 1e6:.0f} MB/s written and flushed", warn=slow)


def write_speed(folder: Path) -> float:
    """Bytes a second of one flushed 32 MiB write in ``folder``. Raises OSError when it cannot be written to."""
    block = os.urandom(1 << 20)
    with tempfile.TemporaryFile(dir=folder) as file:
        start = time.perf_counter()
        for _ in range(_WRITE_BYTES // len(block)):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
        return _WRITE_BYTES / (time.perf_counter() - start)
