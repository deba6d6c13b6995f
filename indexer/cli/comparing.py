"""The verb probe's comparisons: precisions side by side, and a baseline over time."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from indexer.cli import Context
from indexer.cli.haystack import SAMPLES, background_option, backgrounds_of
from indexer.cli.output import ExitCode, print_json, print_table, say
from indexer.encode import load_encoder
from indexer.probe import keep, kept
from indexer.probe.baseline import baseline_from_json, baseline_json, compare_baselines, run_baseline
from indexer.probe.precision import compare_precisions


@click.command("precision")
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@background_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def precision_command(context: Context, folder: Path | None, background: Path | None, as_json: bool) -> ExitCode:
    """Compare float32, bfloat16 and int8 with your encoder: speed, memory, cosine to float32.

    With FOLDER (a judged collection, as for `evaluate`), nDCG@10 as well, with everything encoded in each precision.
    """
    texts = _pieces(backgrounds_of(context.settings, background))
    results = []
    for result in compare_precisions(context.settings.encoder, texts, context.settings, folder):
        results.append(result)
        say(f"... {result.precision}: {result.reason or 'measured'}", quiet=context.quiet or as_json)
    if as_json:
        print_json({"encoder": context.settings.encoder, "results": [asdict(result) for result in results]})
        return ExitCode.DONE
    rows = [
        [
            result.precision,
            f"{result.tokens_per_second:,.0f}",
            f"{result.loaded_mb:,.0f}",
            f"{result.peak_mb:,.0f}",
            f"{result.cosine_mean:.5f}",
            f"{result.cosine_least:.5f}",
            "-" if result.ndcg is None else f"{result.ndcg:.3f}",
            result.reason,
        ]
        for result in results
    ]
    print_table(("PRECISION", "TOKENS/S", "MODEL MB", "PEAK MB", "COSINE", "LEAST", "NDCG@10", ""), rows)
    return ExitCode.DONE


@click.command("baseline")
@click.option("--compare", is_flag=True, help="Compare with the baseline kept before, and keep the new one.")
@click.option(
    "--with",
    "other",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Compare with this report instead.",
)
@click.option(
    "--background",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder whose texts are used (else the sample documents, else the library).",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def baseline_command(
    context: Context, compare: bool, other: Path | None, background: Path | None, as_json: bool
) -> ExitCode:
    """Run a fixed short suite - encode, ingest, search, needles - and keep its report.

    With --compare it says what became slower, larger or worse since the last report; a change counts only beyond the
    noise of both runs. The exit code is 3 when something became worse.
    """
    settings = context.settings
    texts = backgrounds_of(settings, background or (SAMPLES if SAMPLES.is_dir() else None))
    encoder = load_encoder(settings.encoder, settings=settings)
    earlier = json.loads(other.read_text(encoding="utf-8")) if other else kept(settings, "baseline")
    quiet = context.quiet or as_json
    baseline = run_baseline(texts, encoder, settings, lambda line: say(f"... {line}", quiet=quiet))
    values = baseline_json(baseline)
    say(f"Kept as {keep(settings, 'baseline', values)}.", quiet=quiet)
    changes = []
    if compare or other:
        if earlier is None:
            say("There is no earlier baseline on this machine to compare with; this one is kept for the next time.")
        else:
            changes = compare_baselines(baseline_from_json(earlier), baseline)
    if as_json:
        print_json(values | {"changes": [asdict(change) for change in changes]})
    elif changes:
        rows = [[c.name, c.unit, f"{c.before:.4g}", f"{c.after:.4g}", c.verdict] for c in changes]
        print_table(("FIGURE", "UNIT", "BEFORE", "NOW", ""), rows)
    else:
        rows = [[one.name, one.unit, f"{one.median:.4g}", f"± {one.spread:.0%}"] for one in baseline.figures]
        print_table(("FIGURE", "UNIT", "MEDIAN", "SPREAD"), rows)
    return ExitCode.SOME_FAILED if any(change.verdict == "worse" for change in changes) else ExitCode.DONE


def _pieces(backgrounds: dict[str, str], *, size: int = 600, count: int = 48) -> list[str]:
    """Equal pieces from the beginning of each language's text."""
    pieces = [text[first : first + size] for text in backgrounds.values() for first in range(0, len(text), size)]
    return pieces[:: max(len(pieces) // count, 1)][:count]
