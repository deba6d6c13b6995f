"""One document of growing length: seconds a token and memory must stay as they are.

    python -m tests.benchmarks.length [--full] [--longest CHARS] [--stub] [--windows N] [--plot PNG] [--json FILE]

Each length is added by `longdoc add` in a process of its own. Beside it what one window over a whole text costs: a
ModernBERT-base and an LFM2-shaped model (350M, convolutions and attention, without a causal mask) with random weights,
built from transformers' configurations, up to --windows tokens. Goals: seconds a token within 10 %, peak RSS of ten
million characters at most 1.15 times that of a hundred thousand. --full goes to ten million characters and 8,192
tokens; --stub leaves the model out, to see the pipeline's own memory at full length.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks.adding import add, print_rows, write_json
from tests.benchmarks.material import long_text

LENGTHS = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
WINDOWS = (128, 256, 512, 1_024, 2_048, 4_096, 8_192)


def add_lengths(lengths: tuple[int, ...], *, stub: bool) -> list[dict[str, Any]]:
    """``add`` of one text of each length. Seconds a token are those of encoding, without loading the model."""
    rows = []
    for chars in lengths:
        with tempfile.TemporaryDirectory() as place:
            (Path(place) / "long.txt").write_text(long_text(chars))
            added = add(Path(place), stub=stub)
        tokens = added.report["tokens"]
        rows.append(
            {
                "chars": chars,
                "tokens": tokens,
                "ms a token": 1_000 * added.encode_seconds / tokens,
                "add seconds": added.report["seconds"],
                "peak RSS MB": added.report["peak_rss_mb"],
            }
        )
        print_rows(rows[-1:])
    return rows


def one_window(build: Callable[[], Any], longest: int, mask: dict[str, None] | None = None) -> dict[int, float]:
    """Milliseconds a token of a model over one window of each length without a mask, the better of two runs."""
    import torch

    model = build().eval()
    found: dict[int, float] = {}
    for length in [window for window in WINDOWS if window <= longest]:
        ids = torch.randint(10, 1_000, (1, length))
        seconds = []
        with torch.inference_mode():
            for _ in range(2):
                started = time.perf_counter()
                model(input_ids=ids, attention_mask=mask)
                seconds.append(time.perf_counter() - started)
        found[length] = 1_000 * min(seconds) / length
    return found


def modernbert() -> Any:
    from transformers import ModernBertConfig, ModernBertModel

    return ModernBertModel(ModernBertConfig())


def lfm2() -> Any:
    """LFM2-350M's shape: ten gated convolutions, six attention layers; a text encoder's attention sees both ways."""
    from transformers import Lfm2Config, Lfm2Model

    attention = (2, 5, 8, 10, 12, 14)
    model = Lfm2Model(
        Lfm2Config(
            hidden_size=1_024,
            intermediate_size=6_656,
            num_hidden_layers=16,
            num_attention_heads=16,
            num_key_value_heads=8,
            layer_types=["full_attention" if layer in attention else "conv" for layer in range(16)],
            use_cache=False,
        )
    )
    for layer in attention:
        model.layers[layer].self_attn.is_causal = False
    return model


def ours(tokens: int) -> float:
    """Milliseconds a token of our own encoding of a text with so many tokens."""
    from indexer.chunk import chunk_pages
    from indexer.datatypes import OffsetMap, Page
    from indexer.encode import load_encoder
    from indexer.settings import load_settings

    settings = load_settings()
    encoder = load_encoder(settings.encoder, settings=settings)
    text = long_text(tokens * 6)
    chunks = []
    for chunk in chunk_pages([Page(text, OffsetMap.identity(len(text)))], encoder.count_tokens):
        chunks.append(chunk)
        if sum(one.tokens for one in chunks) >= tokens:
            break
    encoder.encode_documents([chunk.text for chunk in chunks[:8]])
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        encoder.encode_documents([chunk.text for chunk in chunks])
        seconds.append(time.perf_counter() - started)
    return 1_000 * statistics.median(seconds) / sum(chunk.tokens for chunk in chunks)


def plot(path: Path, rows: list[dict[str, Any]], windows: dict[str, dict[int, float]]) -> None:
    """Seconds a token over length, ours and one window's; and the memory of `add`."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (pace, memory) = pyplot.subplots(1, 2, figsize=(11, 4.2))
    tokens = [row["tokens"] for row in rows]
    pace.plot(tokens, [row["ms a token"] for row in rows], "o-", label="longdoc add (e5-small, chunks)")
    for name, curve in windows.items():
        pace.plot(list(curve), list(curve.values()), "s--", label=f"{name}, one window")
    pace.set(xscale="log", yscale="log", xlabel="tokens of the document", ylabel="milliseconds a token")
    pace.legend()
    memory.plot(tokens, [row["peak RSS MB"] for row in rows], "o-")
    memory.set(xscale="log", xlabel="tokens of the document", ylabel="peak RSS of add, MB", ylim=(0, None))
    for axes in (pace, memory):
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    print(f"drawn to {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--longest", type=int, default=300_000, help="longest text, in characters")
    parser.add_argument("--stub", action="store_true")
    parser.add_argument("--windows", type=int, help="longest window of the other models, in tokens (0: none)")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    longest = options.windows if options.windows is not None else (8_192 if options.full else 1_024)
    most = LENGTHS[-1] if options.full else max(options.longest, 100_000)
    rows = add_lengths(tuple(chars for chars in LENGTHS if chars <= most), stub=options.stub)
    paces = [row["ms a token"] for row in rows if row["chars"] >= 30_000]
    print(f"milliseconds a token, longest spread from the mean: {spread(paces):.1%} (goal: within 10 %)")
    reference = next(row["peak RSS MB"] for row in rows if row["chars"] == 100_000)
    print(f"peak RSS of the longest to that of 100,000: {rows[-1]['peak RSS MB'] / reference:.3f} (goal: at most 1.15)")
    windows: dict[str, dict[int, float]] = {}
    if longest and not options.stub:
        windows = {
            "ModernBERT-base": one_window(modernbert, longest),
            "LFM2-350M shape": one_window(lfm2, longest, {"full_attention": None, "conv": None}),
        }
        for name, curve in windows.items():
            print(name, {length: round(pace, 2) for length, pace in curve.items()}, "ms a token")
        pace = ours(longest)
        print(
            f"ours, {longest} tokens: {pace:.2f} ms a token; ModernBERT-base / ours: "
            f"{windows['ModernBERT-base'][longest] / pace:.1f} (published claim to beat: 3.7 at 8,192)"
        )
    if options.plot:
        plot(options.plot, rows, windows)
    write_json(
        options.json, "length", [*rows, *({"model": name, "ms a token": curve} for name, curve in windows.items())]
    )


def spread(values: list[float]) -> float:
    """The largest distance from the mean, as a share of it."""
    mean = statistics.mean(values)
    return max(abs(value - mean) for value in values) / mean


if __name__ == "__main__":
    main()
