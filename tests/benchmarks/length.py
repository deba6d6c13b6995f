"""One document of growing length: seconds a token and memory must stay as they are.

    python -m tests.benchmarks.length [--lengths CHARS ...] [--encoder minilm|small] [--stub] [--busy] [--windows N]
                                      [--reuse JSON] [--plot PNG] [--json FILE]

Each length is added by `longdoc add` in a process of its own; those up to a hundred thousand characters three times,
of which the median counts. Beside it what one window over a whole text costs: a ModernBERT-base and an LFM2-shaped
model (350M, convolutions and attention, without a causal mask) with random weights, built from transformers'
configurations, up to --windows tokens, and our own encoding of as many tokens. Goals: seconds a token within 10 %, peak
RSS of ten million characters at most 1.15 times that of a hundred thousand. --encoder small is fast enough for ten
million characters; --stub leaves the model out, to see the pipeline's own memory. --reuse takes what is not measured
now from the JSON of an earlier run. --busy counts processor seconds of one thread, for a machine that others use too.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks.adding import add, print_rows
from tests.benchmarks.material import long_text

LENGTHS = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
WINDOWS = (128, 256, 512, 1_024, 2_048, 4_096, 8_192)
REFERENCE = 100_000
REPEATED_UP_TO = 100_000
REPEATS = 3

Row = dict[str, Any]


def add_length(chars: int, encoder: str, *, stub: bool, busy: bool) -> Row:
    """``add`` of one text. Milliseconds a token are those of encoding, without loading the model."""
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "long.txt").write_text(long_text(chars))
        runs = [
            add(Path(place), "--encoder", encoder, stub=stub, busy=busy)
            for _ in range(REPEATS if chars <= REPEATED_UP_TO and not stub and not busy else 1)
        ]
    tokens = runs[0].report["tokens"]
    return {
        "chars": chars,
        "tokens": tokens,
        "ms a token": 1_000 * statistics.median(run.encode_seconds for run in runs) / tokens,
        "add seconds": statistics.median(run.report["seconds"] for run in runs),
        "peak RSS MB": max(run.report["peak_rss_mb"] for run in runs),
        "with readers MB": max(run.tree_mb for run in runs),
    }


def small_model(folder: Path) -> Path:
    """Two layers of a BERT with random weights behind minilm's tokenizer: all of the work but most of the products."""
    from transformers import BertConfig

    from indexer.encode.convert import minilm_folder
    from tests.encode.shapes import write_model

    config = BertConfig(hidden_size=128, num_hidden_layers=2, num_attention_heads=2, intermediate_size=512)
    write_model(folder, config, length=256)
    shutil.copy(minilm_folder()[0] / "tokenizer.json", folder / "tokenizer.json")
    return folder


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
        print(f"  {length:6,} tokens: {found[length]:.2f} ms a token", flush=True)
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


def ours(name: str, tokens: int) -> float:
    """Milliseconds a token of our own encoding of a text with so many tokens."""
    from indexer.chunk import chunk_pages
    from indexer.datatypes import OffsetMap, Page
    from indexer.encode import load_encoder
    from indexer.settings import load_settings

    encoder = load_encoder(name, settings=load_settings())
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


def measure_windows(longest: int) -> dict[str, dict[int, float]]:
    """The curves of the other models, and ours at the longest window."""
    curves: dict[str, dict[int, float]] = {}
    for name, build, mask in (
        ("ModernBERT-base", modernbert, None),
        ("LFM2-350M shape", lfm2, {"full_attention": None, "conv": None}),
    ):
        print(f"{name}, one window")
        curves[name] = one_window(build, longest, mask)
    for name in ("e5-small", "minilm"):
        pace = ours(name, longest)
        curves[f"longdoc {name}"] = {longest: pace}
        print(
            f"longdoc {name}, {longest:,} tokens in chunks: {pace:.3f} ms a token; ModernBERT-base takes "
            f"{curves['ModernBERT-base'][longest] / pace:.1f} times as long (published claim to beat: 3.7 at 8,192)"
        )
    return curves


def plot(path: Path, rows: list[Row], windows: dict[str, dict[int, float]]) -> None:
    """Milliseconds a token over length, ours and one window's; and the memory of `add`."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter, StrMethodFormatter

    figure, (pace, memory) = pyplot.subplots(1, 2, figsize=(11, 4.2))
    tokens = [row["tokens"] for row in rows]
    pace.plot(tokens, [row["ms a token"] for row in rows], "o-", label=f"longdoc add ({rows[0]['encoder']}, chunks)")
    for name, curve in windows.items():
        alone = len(curve) == 1
        pace.plot(
            [int(length) for length in curve], list(curve.values()), "x" if alone else "s--",
            label=f"{name}, chunks" if alone else f"{name}, one window",
        )  # fmt: skip
    pace.set(xscale="log", yscale="log", xlabel="tokens of the document", ylabel="milliseconds a token")
    pace.legend(fontsize=8)
    memory.plot(tokens, [row["peak RSS MB"] for row in rows], "o-", label="longdoc add")
    memory.plot(tokens, [row["with readers MB"] for row in rows], "s--", label="with its readers")
    memory.set(xscale="log", xlabel="tokens of the document", ylabel="peak resident memory, MB", ylim=(0, None))
    memory.legend(fontsize=8)
    for axes in (pace, memory):
        axes.grid(alpha=0.3)
        axes.xaxis.set(major_formatter=EngFormatter(sep=""), minor_formatter=NullFormatter())
    plain = StrMethodFormatter("{x:g}")
    pace.yaxis.set(major_formatter=plain, minor_formatter=plain, minor_locator=LogLocator(subs=(2, 5)))
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    print(f"drawn to {path}")


def judge(rows: list[Row]) -> None:
    """Print the table, and how far the figures are from constant."""
    print_rows(rows)
    paces = [row["ms a token"] for row in rows]
    print(f"milliseconds a token: the farthest is {spread(paces):.1%} from the mean (goal: within 10 %)")
    reference = next((row["peak RSS MB"] for row in rows if row["chars"] == REFERENCE), None)
    if reference is not None:
        ratio = rows[-1]["peak RSS MB"] / reference
        print(f"peak RSS of {rows[-1]['chars']:,} characters to that of 100,000: {ratio:.3f} (goal: at most 1.15)")


def spread(values: list[float]) -> float:
    """The largest distance from the mean, as a share of it."""
    mean = statistics.mean(values)
    return max(abs(value - mean) for value in values) / mean


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs="*", default=LENGTHS[:4], help="in characters; none: not at all")
    parser.add_argument("--encoder", default="minilm", help="or 'small': two layers with random weights")
    parser.add_argument("--stub", action="store_true")
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--windows", type=int, default=0, help="longest window of the other models, in tokens")
    parser.add_argument("--reuse", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    kept = json.loads(options.reuse.read_text()) if options.reuse else {"rows": [], "windows": {}}
    rows = {row["chars"]: row for row in kept["rows"]}
    encoder = options.encoder
    if encoder == "small":
        encoder = str(small_model(Path(tempfile.mkdtemp(prefix="longdoc-small-"))))
    for chars in options.lengths:
        rows[chars] = {"encoder": options.encoder} | add_length(chars, encoder, stub=options.stub, busy=options.busy)
        print_rows([rows[chars]])
    ordered = [rows[chars] for chars in sorted(rows)]
    if ordered:
        judge(ordered)
    windows = measure_windows(options.windows) if options.windows else kept["windows"]
    if options.plot:
        plot(options.plot, ordered, windows)
    if options.json:
        options.json.write_text(json.dumps({"benchmark": "length", "rows": ordered, "windows": windows}, indent=2))


if __name__ == "__main__":
    main()
