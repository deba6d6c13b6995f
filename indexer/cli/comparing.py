"""The verb probe's comparisons: precisions side by side, and a baseline over time."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from indexer.cli import Context
from indexer.cli.haystack import SAMPLES, background_option, backgrounds_of
from indexer.cli.output import ExitCode, print_json, print_table, say
from indexer.encode import LEAST_COSINE, load_encoder
from indexer.errors import LongdocError
from indexer.probe import background_chunks, keep, kept
from indexer.probe.baseline import Baseline, baseline_from_json, baseline_json, compare_baselines, run_baseline
from indexer.probe.precision import PrecisionResult, compare_precisions

_CHUNKS = 48
"""Chunks that each precision encodes: a few seconds of work."""


@click.command("precision")
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@background_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def precision_command(context: Context, folder: Path | None, background: Path | None, as_json: bool) -> ExitCode:
    """Compare float32, bfloat16 and int8 with your encoder: speed, memory, cosine to float32.

    With FOLDER (a judged collection, as for `evaluate`), nDCG@10 as well, with everything encoded in each precision.
    """
    settings = context.settings
    encoder = load_encoder(settings.encoder, settings=settings)
    texts = background_chunks(backgrounds_of(settings, background), encoder, settings, _CHUNKS)
    results = []
    for result in compare_precisions(settings.encoder, texts, settings, folder):
        results.append(result)
        say(f"... {result.precision}: {result.reason or 'measured'}", quiet=context.quiet or as_json)
    if as_json:
        print_json({"encoder": settings.encoder, "results": [asdict(result) for result in results]})
        return ExitCode.DONE
    header = ("PRECISION", "TOKENS/S", "MODEL MB", "PEAK ABOVE MB", "MEAN COSINE", "LEAST", "NDCG@10", "")
    print_table(header, [_precision_line(result) for result in results])
    return ExitCode.DONE


def _precision_line(result: PrecisionResult) -> list[str]:
    if result.reason:
        return [result.precision, *["-"] * 6, result.reason]
    return [
        result.precision,
        f"{result.tokens_per_second:,.0f}",
        f"{result.loaded_mb:,.0f}",
        f"{result.peak_mb:,.0f}",
        f"{result.cosine_mean:.5f}",
        f"{result.cosine_least:.5f}",
        "-" if result.ndcg is None else f"{result.ndcg:.3f}",
        f"under {LEAST_COSINE}: not used unless you set it" if result.cosine_least < LEAST_COSINE else "",
    ]


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
    earlier = _earlier(context, other) if compare or other else None
    quiet = context.quiet or as_json
    baseline = run_baseline(texts, encoder, settings, lambda line: say(f"... {line}", quiet=quiet))
    values = baseline_json(baseline)
    say(f"Kept as {keep(settings, 'baseline', values)}.", quiet=quiet)
    changes = compare_baselines(earlier, baseline) if earlier else []
    if as_json:
        print_json(values | {"changes": [asdict(change) for change in changes]})
        return ExitCode.SOME_FAILED if any(change.verdict == "worse" for change in changes) else ExitCode.DONE
    click.echo(_origin(baseline))
    if earlier is None:
        if compare:
            say("There is no earlier baseline on this machine to compare with; this one is kept for the next time.")
        rows = [[one.name, one.unit, f"{one.median:.4g}", f"± {one.spread:.0%}"] for one in baseline.figures]
        print_table(("FIGURE", "UNIT", "MEDIAN", "SPREAD"), rows)
        return ExitCode.DONE
    click.echo(f"Before: {_origin(earlier)}")
    rows = [[c.name, c.unit, f"{c.before:.4g}", f"{c.after:.4g}", c.verdict] for c in changes]
    print_table(("FIGURE", "UNIT", "BEFORE", "NOW", ""), rows)
    worse = [change.name for change in changes if change.verdict == "worse"]
    if not worse:
        click.echo("Nothing became slower, larger or worse beyond the noise of both runs.")
        return ExitCode.DONE
    click.echo(f"Worse beyond the noise of both runs: {'; '.join(worse)}.")
    if earlier.machine != baseline.machine:
        click.echo("The earlier run was made on another machine, or on this one set up otherwise.")
    return ExitCode.SOME_FAILED


def _earlier(context: Context, other: Path | None) -> Baseline | None:
    """The report to compare with; None when none was kept. Raises LongdocError for a file that is none."""
    try:
        values = json.loads(other.read_text(encoding="utf-8")) if other else kept(context.settings, "baseline")
        return None if values is None else baseline_from_json(values)
    except (OSError, ValueError, KeyError, TypeError) as error:
        where = other or "The baseline that was kept"
        raise LongdocError(f"{where} is no report of `longdoc probe baseline` that can be read.") from error


def _origin(baseline: Baseline) -> str:
    machine, versions = baseline.machine, baseline.versions
    commit = f", commit {baseline.commit}" if baseline.commit else ""
    return (
        f"{baseline.measured[:16].replace('T', ' ')} UTC, {machine['processor']}, {machine['cores']} cores, "
        f"{machine['memory']}, torch {versions['torch']}{commit}"
    )
