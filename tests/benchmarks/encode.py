"""The encoder against sentence-transformers' own ``encode`` on the same chunks, and against the machine's peak.

    python -m tests.benchmarks.encode [--encoders e5-small minilm] [--folder DIR] [--tokens 20000] [--rounds 3]
                                      [--json FILE]

In one process, in turns within each round: sentence-transformers in float32 (batch 32) and in bfloat16, then ours as it
is tuned for this machine. Beside them the peak of float32 and bfloat16 matrix products in the model's own shapes,
measured in the same rounds, and the share of it that ours reaches. Medians over the rounds; a machine that emulates
bfloat16 gets fewer texts for it. Cosines are to sentence-transformers in float32. Goals on a processor with AMX: 4.5
times the plain loop, half of the peak.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from indexer.chunk import chunk_pages
from indexer.datatypes import Matrix
from indexer.encode import load_encoder
from indexer.encode.lean import LeanEncoder
from indexer.parse import ReadOptions, read
from indexer.settings import load_settings

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
BATCH = 32
SLOW_TEXTS = 4  # for a precision that is emulated


@dataclass(frozen=True, slots=True)
class Way:
    """One way of encoding: how fast, how much faster than the plain loop, how near to it."""

    name: str
    tokens_per_second: float
    ratio: float
    least_cosine: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """All ways for one encoder, and the share of the matrix-product peak that ours reaches."""

    encoder: str
    precision: str
    threads: int
    batch_tokens: int
    chunks: int
    tokens: int
    rounds: int
    ways: tuple[Way, ...]
    peak_gflops: float
    reached_gflops: float

    @property
    def share(self) -> float:
        return self.reached_gflops / self.peak_gflops


def chunks_of(folder: Path, encoder: LeanEncoder, tokens: int) -> list[str]:
    """Chunks of the folder's documents as ``add`` cuts them, from every document in turn, up to ``tokens``."""
    documents = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with read(path, ReadOptions()) as reading:
            documents.append([chunk for chunk in chunk_pages(reading, encoder.count_tokens)])
    texts: list[str] = []
    taken = 0
    for position in range(max(map(len, documents), default=0)):
        for chunks in documents:
            if position < len(chunks) and taken < tokens:
                texts.append(chunks[position].text)
                taken += chunks[position].tokens
    return texts


def compare(name: str, folder: Path, tokens: int, rounds: int) -> Comparison:
    """Encode the same chunks in every way, in turns."""
    from sentence_transformers import SentenceTransformer

    encoder = load_encoder(name, settings=load_settings())
    assert isinstance(encoder, LeanEncoder)
    texts = chunks_of(folder, encoder, tokens)
    sizes = encoder.count_tokens(texts)
    if encoder._unmeasured():
        encoder.calibrate()
    tuning = encoder.tuning()
    torch.set_num_threads(tuning.threads)
    path = str(encoder.folder.path)
    plain = SentenceTransformer(path, device="cpu", local_files_only=True)
    half = SentenceTransformer(path, device="cpu", local_files_only=True).bfloat16()

    def loop(model: SentenceTransformer) -> Callable[[Sequence[str]], Matrix]:
        return lambda some: np.asarray(
            model.encode(list(some), batch_size=BATCH, prompt=encoder.document_prompt, normalize_embeddings=True,
                         convert_to_tensor=True).float()
        )  # fmt: skip

    names = ("sentence-transformers float32", "sentence-transformers bfloat16", f"longdoc {tuning.precision}")
    calls = (loop(plain), loop(half), encoder.encode_documents)
    expected = calls[0](texts)
    few = len(texts) if torch.cpu._is_avx512_bf16_supported() else min(len(texts), SLOW_TEXTS)
    counts = (len(texts), few, len(texts))
    speeds: list[list[float]] = [[], [], []]
    cosines = [1.0, 1.0, 1.0]
    peaks: list[float] = []
    for _ in range(rounds):
        peaks.append(peak_gflops(encoder, torch.bfloat16 if tuning.precision == "bfloat16" else torch.float32))
        for way, (call, count) in enumerate(zip(calls, counts, strict=True)):
            began = time.perf_counter()
            rows = call(texts[:count])
            speeds[way].append(sum(sizes[:count]) / (time.perf_counter() - began))
            cosines[way] = min(cosines[way], float((rows * expected[:count]).sum(1).min()))
    medians = [statistics.median(way) for way in speeds]
    ratios = [
        statistics.median(mine / base for mine, base in zip(way, speeds[0], strict=True)) for way in speeds
    ]  # within a round: the machine's pace changes from minute to minute
    content = medians[2] * work_per_token(encoder, sum(sizes) / len(sizes)) / 1e9
    return Comparison(
        encoder=name, precision=tuning.precision, threads=tuning.threads, batch_tokens=tuning.batch_tokens,
        chunks=len(texts), tokens=sum(sizes), rounds=rounds,
        ways=tuple(map(Way, names, medians, ratios, cosines)),
        peak_gflops=statistics.median(peaks), reached_gflops=content,
    )  # fmt: skip


def work_per_token(encoder: LeanEncoder, length: float) -> float:
    """Floating point operations for a content token: dense layers, and attention over ``length`` tokens."""
    config = encoder.folder.config
    width, inner, layers = config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"]
    return float(layers * (2 * (4 * width * width + 2 * width * inner) + 4 * length * width))


def peak_gflops(encoder: LeanEncoder, dtype: torch.dtype) -> float:
    """What bare matrix products in the model's own shapes reach, without anything between them."""
    config = encoder.folder.config
    width, inner = config["hidden_size"], config["intermediate_size"]
    tokens, work, seconds = 2048, 0.0, 0.0
    for inputs, outputs in ((width, 3 * width), (width, width), (width, inner), (inner, width)):
        x, weight = torch.randn(tokens, inputs, dtype=dtype), torch.randn(inputs, outputs, dtype=dtype)
        out = torch.empty(tokens, outputs, dtype=dtype)
        torch.mm(x, weight, out=out)
        best = float("inf")
        for _ in range(5):
            began = time.perf_counter()
            torch.mm(x, weight, out=out)
            best = min(best, time.perf_counter() - began)
        seconds += best
        work += 2.0 * tokens * inputs * outputs
    return work / seconds / 1e9


def report(comparison: Comparison) -> None:
    c = comparison
    print(
        f"\n{c.encoder}: {c.chunks} chunks of {c.tokens / c.chunks:.0f} tokens, {c.threads} threads, {c.rounds} rounds"
    )
    print(f"{'way':32} {'tokens/s':>9} {'ratio':>6} {'least cosine':>13}")
    for way in c.ways:
        print(f"{way.name:32} {way.tokens_per_second:9,.0f} {way.ratio:6.2f} {way.least_cosine:13.5f}")
    print(
        f"matrix products: peak {c.peak_gflops:.0f} GFLOP/s, reached {c.reached_gflops:.0f}, share {c.share:.0%}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoders", nargs="+", default=["e5-small", "minilm"])
    parser.add_argument("--folder", type=Path, default=SAMPLES)
    parser.add_argument("--tokens", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, default=Path("encode.json"))
    options = parser.parse_args()
    comparisons = []
    for name in options.encoders:
        comparisons.append(compare(name, options.folder, options.tokens, options.rounds))
        report(comparisons[-1])
    values = [asdict(comparison) | {"share": comparison.share} for comparison in comparisons]
    options.json.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
