"""How the encoder works on this machine: what was measured, kept in the user cache; what a person set goes first.

Nothing here imports torch: what was measured can be shown without it.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Collection
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import psutil

from indexer.encode.folder import EncoderSpec
from indexer.encode.precision import Precision
from indexer.errors import SettingsError
from indexer.machine import available_memory, read_cores, read_processor
from indexer.settings import Settings, parse_size

DEFAULT_BATCH_TOKENS = 2048
LEAST_BATCH_TOKENS = 512
_FAST_BFLOAT16 = ("amx_bf16", "avx512_bf16")
_UNDISTURBED = 0.2  # of the processors, taken by others
_DEFAULT_SHARE = 0.5  # of the available memory, when nothing is said
_RESERVE = 64 << 20  # for what grows beside the batch: token ids, rows, the reader's and the store's own


@dataclass(frozen=True, slots=True)
class Trial:
    """One way of working that was measured; ``refused`` says why it may not be used."""

    precision: str
    threads: int
    batch_tokens: int
    tokens_per_second: float
    cosine: float
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was measured for one encoder on one machine, and the way that was best.

    ``bytes_per_token`` is how much the process grew for each further token in a batch, ``others`` the share of the
    processors that other programs took meanwhile.
    """

    encoder: str
    fingerprint: str
    processor: str
    torch: str
    precision: str
    threads: int
    batch_tokens: int
    tokens_per_second: float
    bytes_per_token: int
    seconds: float
    measured: str
    trials: tuple[Trial, ...]
    others: float = 0.0

    @property
    def disturbed(self) -> bool:
        """Whether so much else went on that it is worth measuring again when there is occasion."""
        return self.others > _UNDISTURBED


@dataclass(frozen=True, slots=True)
class Tuning:
    """How to work now: the person's settings, then what was measured, then what the processor suggests."""

    precision: Precision
    threads: int
    batch_tokens: int


def read_calibration(spec: EncoderSpec, settings: Settings) -> Calibration | None:
    """What was measured for this encoder with this processor and this torch; None when nothing was yet."""
    try:
        values = json.loads(_path(spec, settings).read_text(encoding="utf-8"))
        return Calibration(**values | {"trials": tuple(Trial(**trial) for trial in values["trials"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None  # missing, or from another version: it is measured again


def write_calibration(calibration: Calibration, spec: EncoderSpec, settings: Settings) -> None:
    """Keep a measurement, whole or not at all; a cache that cannot be written only means to measure again."""
    path = _path(spec, settings)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False, encoding="utf-8") as file:
            json.dump(asdict(calibration), file, indent=2)
        Path(file.name).replace(path)
    except OSError:
        return


def choose_tuning(settings: Settings, calibration: Calibration | None, trusted: Collection[Precision]) -> Tuning:
    """The way to work; unmeasured only in a precision that is ``trusted`` to agree with float32.

    Raises SettingsError when the precision asked for does not exist.
    """
    suggested = Precision.FLOAT32
    if calibration is not None:
        suggested = Precision(calibration.precision)
    elif Precision.BFLOAT16 in trusted and read_processor().flags.intersection(_FAST_BFLOAT16):
        suggested = Precision.BFLOAT16
    if settings.precision == "auto":
        precision = suggested
    elif settings.precision in list(Precision):
        precision = Precision(settings.precision)
    else:
        raise SettingsError(f"precision is {settings.precision!r}; it can be auto, {', '.join(Precision)}.")
    threads = settings.threads or (calibration.threads if calibration else read_cores().usable)
    batch_tokens = settings.batch_tokens or (calibration.batch_tokens if calibration else DEFAULT_BATCH_TOKENS)
    return Tuning(precision, threads, batch_tokens)


def memory_room(settings: Settings) -> int:
    """Bytes that batches may take: what ``memory`` leaves over beside the process as it is, never less than 0.

    Without a figure it is a share of what is available. Raises SettingsError when the figure is not a size.
    """
    available = available_memory()
    if settings.memory == "auto":
        return max(0, int(available * _DEFAULT_SHARE) - _RESERVE)
    taken = psutil.Process().memory_info().rss
    return max(0, min(parse_size(settings.memory, "memory") - taken, available) - _RESERVE)


def fitting_tokens(wanted: int, room: int, bytes_per_token: int) -> int:
    """The tokens of a batch that fit into ``room`` bytes, at most ``wanted``; a small batch is always tried."""
    return max(min(wanted, LEAST_BATCH_TOKENS), min(wanted, room // max(1, bytes_per_token)))


def _path(spec: EncoderSpec, settings: Settings) -> Path:
    model = "".join(letter if letter.isalnum() else "-" for letter in read_processor().model).strip("-").lower()
    name = f"{model}-{os.cpu_count()}-torch-{_torch_version()}-{spec.fingerprint[:16]}.json"
    return settings.cache / "calibration" / name


@cache
def _torch_version() -> str:
    """Found once: reading a package's metadata takes as long as a tenth of a query."""
    return version("torch")
