"""How fast and how large an encoder runs in one precision, in a process of its own, with the rows it makes.

``python -m indexer.encode.pace JSON`` measures; ``measure_pace`` runs that. Rows come back in a NumPy file.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from indexer.datatypes import Matrix
from indexer.encode.cost import forget_peak, peak_mb, resident_mb
from indexer.errors import EncoderError, LongdocError


@dataclass(frozen=True, slots=True)
class Pace:
    """What encoding some texts took in one precision; ``peak_mb`` is above the loaded model's ``loaded_mb``."""

    precision: str
    tokens: int
    seconds: float
    loaded_mb: float
    peak_mb: float
    rows: Matrix

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0


def measure_pace(encoder: str, precision: str, texts: Sequence[str], *, seconds: float = 600.0) -> Pace:
    """Encode texts in a fresh process. Raises EncoderError with the reason when that does not work."""
    with TemporaryDirectory(prefix="longdoc-pace-") as name:
        folder = Path(name)
        (folder / "texts.json").write_text(json.dumps(list(texts)), encoding="utf-8")
        command = [
            sys.executable,
            "-W",
            "ignore::RuntimeWarning:runpy",
            "-m",
            "indexer.encode.pace",
            encoder,
            precision,
            name,
        ]
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired as error:
            raise EncoderError(f"{encoder} in {precision} took more than {seconds:.0f} seconds.") from error
        if result.returncode:
            lines = result.stderr.strip().splitlines() or [f"exit {result.returncode}"]
            raise EncoderError(f"{encoder} in {precision}: {lines[-1]}")
        return Pace(precision, rows=np.load(folder / "rows.npy", allow_pickle=False), **json.loads(result.stdout))


def run(encoder_name: str, precision: str, folder: Path) -> dict[str, float]:
    """Measure in this process: the figures of Pace; the rows are left in the folder."""
    from indexer.encode.load import load_encoder
    from indexer.settings import load_settings

    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    encoder = load_encoder(encoder_name, settings=replace(load_settings(), precision=precision))
    encoder.encode_documents(texts[:1])
    loaded = resident_mb()
    forget_peak()
    start = time.perf_counter()
    rows = encoder.encode_documents(texts)
    seconds = time.perf_counter() - start
    np.save(folder / "rows.npy", rows)
    tokens = sum(encoder.count_tokens(texts))
    return {"tokens": tokens, "seconds": seconds, "loaded_mb": loaded, "peak_mb": max(peak_mb() - loaded, 0.0)}


def main(arguments: list[str]) -> int:
    """Print the figures as JSON, or one sentence on stderr and exit 1."""
    encoder, precision, folder = arguments
    try:
        sys.stdout.write(json.dumps(run(encoder, precision, Path(folder))))
    except (LongdocError, RuntimeError) as error:
        sys.stderr.write(f"{' '.join(str(error).split())[:300]}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
