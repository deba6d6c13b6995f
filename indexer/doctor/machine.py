"""The machine: processor and instruction sets, cores against quotas, memory against limits, disk space and speed."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil

from indexer.doctor.report import Finding, judge
from indexer.machine import Cores, Processor, memory_limit, read_cores, read_processor

LAYER = "machine"
GIB = 1 << 30
_X86_ONLY = ("AVX2", "AVX-512", "VNNI", "BF16", "AMX")
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_WRITE_BYTES = 32 << 20


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
