"""What one pass over a text of a given length costs: measured in a process of its own, under limits.

``python -m indexer.encode.cost JSON`` measures a trial and prints a JSON document; ``measure_cost`` runs that, watches
its memory and time, and reports a limit that was reached as a result like any other.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from indexer.encode.presets import RopeScaling, known
from indexer.errors import EncoderError

if TYPE_CHECKING:
    import torch

PRECISIONS = ("float32", "bfloat16", "int8")
_WATCH_SECONDS = 0.05
_KIB = 1024
_REPEATED_SECONDS = 2.0  # short passes are noisy: they are made again
_MOST_PASSES = 5


class Outcome(StrEnum):
    """How a trial ended."""

    DONE = "done"
    MEMORY = "memory limit"
    TIME = "time limit"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CostTrial:
    """One measurement to make: a preset or a model folder, tokens of one text, precision, and rope scaling if any."""

    model: str
    length: int
    precision: str = "float32"
    rope: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """What a trial's process may take: bytes of resident memory and seconds, loading included."""

    memory: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Cost:
    """What a trial took. ``peak_mb`` is the highest resident memory of the pass, above that of the loaded model."""

    trial: CostTrial
    outcome: Outcome
    reason: str = ""
    parameters: int = 0
    load_seconds: float = 0.0
    loaded_mb: float = 0.0
    seconds: float = 0.0
    peak_mb: float = 0.0

    @property
    def tokens_per_second(self) -> float:
        return self.trial.length / self.seconds if self.seconds else 0.0


def measure_cost(trial: CostTrial, limits: Limits) -> Cost:
    """Run a trial in a fresh process and watch it."""
    command = [
        sys.executable,
        "-W",
        "ignore::RuntimeWarning:runpy",
        "-m",
        "indexer.encode.cost",
        json.dumps(asdict(trial)),
    ]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    outcome = _watch(child, limits)
    output, errors = child.communicate()
    if outcome is not None:
        what = f"{limits.memory / (1 << 30):.1f} GiB" if outcome is Outcome.MEMORY else f"{limits.seconds:.0f} s"
        return Cost(trial, outcome, f"more than {what}")
    if child.returncode == -9:
        return Cost(trial, Outcome.MEMORY, "the system ended the process")
    if child.returncode < 0:
        return Cost(trial, Outcome.FAILED, f"the process was ended by signal {-child.returncode}")
    if child.returncode:
        lines = [line for line in errors.strip().splitlines() if line.strip()]
        return Cost(trial, Outcome.FAILED, lines[-1] if lines else f"exit {child.returncode}")
    return Cost(trial, Outcome.DONE, **json.loads(output))


def _watch(child: subprocess.Popen[str], limits: Limits) -> Outcome | None:
    """Wait for a process; end it when it exceeds a limit, and say which."""
    process, end = psutil.Process(child.pid), time.monotonic() + limits.seconds
    while True:
        try:
            child.wait(_WATCH_SECONDS)
            return None
        except subprocess.TimeoutExpired:
            pass
        try:
            resident = process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
        if resident > limits.memory or time.monotonic() > end:
            child.kill()
            return Outcome.MEMORY if resident > limits.memory else Outcome.TIME


def run(trial: CostTrial) -> dict[str, float]:
    """Measure in this process: the fields of Cost that a finished trial has."""
    import torch

    from indexer.encode.models import build, load_folder

    start = time.perf_counter()
    rope = RopeScaling.parse(trial.rope) if trial.rope else None
    torch.manual_seed(0)
    if known(trial.model):
        model = build(trial.model, trial.length, rope)
    elif Path(trial.model).is_dir():
        model = load_folder(Path(trial.model), trial.length, rope)
    else:
        raise EncoderError(f"{trial.model!r} is neither an architecture of the probe nor a model folder.")
    parameters = model.parameters_count
    measured = _in_precision(model, trial.precision)
    with torch.inference_mode():
        torch.rand(256, 256) @ torch.rand(256, 256)  # starts the threads, so that the pass does not pay for it
        loaded, loaded_mb = time.perf_counter(), resident_mb()
        forget_peak()
        seconds = _fastest(measured, torch.randint(5, 1000, (1, trial.length)))
    return {
        "parameters": parameters,
        "load_seconds": loaded - start,
        "loaded_mb": loaded_mb,
        "seconds": seconds,
        "peak_mb": max(peak_mb() - loaded_mb, 0.0),
    }


def _fastest(model: torch.nn.Module, ids: torch.Tensor) -> float:
    """Seconds of a pass: of the fastest one among those that begin within ``_REPEATED_SECONDS``."""
    spent: list[float] = []
    while sum(spent) < _REPEATED_SECONDS and len(spent) < _MOST_PASSES:
        begin = time.perf_counter()
        model(ids)
        spent.append(time.perf_counter() - begin)
    return min(spent)


def _in_precision(model: torch.nn.Module, precision: str) -> torch.nn.Module:
    import torch

    if precision == "bfloat16":
        return model.to(torch.bfloat16)
    if precision == "int8":
        dynamic: Any = torch.ao.quantization.quantize_dynamic
        quantised: torch.nn.Module = dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)
        return quantised
    if precision != "float32":
        raise EncoderError(f"Precision is {', '.join(PRECISIONS)}, not {precision!r}.")
    return model.float()


def _status_mb(field: str) -> float:
    """A figure of the kernel about this process's memory, in MB."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / _KIB
    return 0.0


def resident_mb() -> float:
    """Resident memory of this process now, in MB."""
    return _status_mb("VmRSS") if Path("/proc/self/status").exists() else psutil.Process().memory_info().rss / _KIB**2


def peak_mb() -> float:
    """Resident memory of this process at its highest since ``forget_peak``, in MB."""
    return _status_mb("VmHWM") if Path("/proc/self/status").exists() else resident_mb()


def forget_peak() -> None:
    """Have the kernel count the peak anew (write 5, see proc(5)); without /proc there is nothing to forget."""
    path = Path("/proc/self/clear_refs")
    if path.exists():
        path.write_text("5", encoding="ascii")


def main(arguments: list[str]) -> int:
    """Print the measurements of the trial given as JSON, or one sentence on stderr and exit 1."""
    try:
        sys.stdout.write(json.dumps(run(CostTrial(**json.loads(arguments[0])))))
    except MemoryError:
        sys.stderr.write("out of memory\n")
        return -9
    except Exception as error:  # whatever an architecture raises at a length is a result, told in one line
        sys.stderr.write(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
