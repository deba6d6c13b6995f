"""The verb probe: measure on this machine how cost grows with length, and where facts get lost."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from indexer.cli import Context
from indexer.cli.output import ExitCode, print_json, print_table, say
from indexer.encode import PRECISIONS, PRESETS, SIZES, Limits, RopeScaling, load_encoder
from indexer.errors import LibraryNotFoundError, LongdocError
from indexer.library import Library
from indexer.probe import (
    GROWTH_HEADER,
    Growth,
    GrowthOptions,
    NeedleOptions,
    folder_texts,
    growth_csv,
    growth_json,
    growth_picture,
    growth_table,
    keep,
    kept,
    library_texts,
    needle_json,
    needle_picture,
    needle_table,
    read_backgrounds,
    run_growth,
    run_needle,
)
from indexer.settings import Settings, parse_size

_SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"
_Folder = click.Path(path_type=Path, exists=True, file_okay=False)
_Output = click.Path(path_type=Path, dir_okay=False, writable=True)


_background = click.option(
    "--background", type=_Folder, help="A folder whose texts are used (else the library, else the sample documents)."
)


@click.group("probe", context_settings={"help_option_names": ["-h", "--help"]})
def probe_command() -> None:
    """Measure on this machine, with your documents, instead of believing claims.

    `growth` measures how time and memory grow with the length of a text, for the architectures of the field and for
    any local model. `needle` hides facts in long texts and looks where they get lost.
    """


@probe_command.command("growth")
@click.option(
    "--models",
    default="bert-30m,modernbert-30m,windows-30m",
    show_default=True,
    help="Presets or model folders, separated by commas; `all` for every preset.",
)
@click.option(
    "--size",
    type=click.Choice(list(SIZES)),
    default="30m",
    show_default=True,
    help="The size of the presets that `all` names.",
)
@click.option(
    "--from",
    "shortest",
    type=click.IntRange(64),
    default=512,
    show_default=True,
    help="Tokens to begin with; lengths double from there.",
)
@click.option(
    "--to", "longest", type=click.IntRange(64), default=4096, show_default=True, help="Tokens to end with at most."
)
@click.option(
    "--precision",
    "precisions",
    default="float32",
    show_default=True,
    help="float32, bfloat16, int8, separated by commas.",
)
@click.option(
    "--rope-scaling",
    "rope",
    metavar="KIND:FACTOR",
    help="linear, dynamic or yarn, for rotary models beyond their trained length.",
)
@click.option(
    "--memory", default="4GB", show_default=True, help="The memory a trial may take; reaching it is a result."
)
@click.option(
    "--seconds",
    type=click.FloatRange(1),
    default=120.0,
    show_default=True,
    help="The time a trial may take; reaching it is a result.",
)
@click.option("--csv", "csv_path", type=_Output, help="Write every trial as CSV.")
@click.option("--png", "png_path", type=_Output, help="Draw both curves.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def growth_command(
    context: Context, /, csv_path: Path | None, png_path: Path | None, as_json: bool, **given: str
) -> ExitCode:
    """Measure how time and memory grow with length, each trial in a fresh process under limits.

    Presets have random weights: what they cost is measured, not what they understand. With --rope-scaling the same is
    true of a trained model.
    """
    options = _growth_options(**given)  # type: ignore[arg-type]  # click has converted each to what its option says
    if options.rope:
        say("Rope scaling: what follows is cost. Quality beyond the trained length is not measured.")
    costs = []
    for cost in run_growth(options):
        costs.append(cost)
        trial = cost.trial
        figures = f"{cost.seconds:.2f} s, {cost.peak_mb:,.0f} MB" if cost.seconds else cost.reason
        say(
            f"{Path(trial.model).name} {trial.precision} {trial.length:,} tokens: {cost.outcome.value}, {figures}",
            quiet=context.quiet or as_json,
        )
    growth = Growth(options, tuple(costs))
    values = growth_json(growth)
    keep(context.settings, "growth", values)
    if csv_path:
        csv_path.write_text(growth_csv(growth), encoding="utf-8")
    if png_path:
        png_path.write_bytes(growth_picture(growth))
    if as_json:
        print_json(values)
    else:
        print_table(GROWTH_HEADER, growth_table(growth))
    return ExitCode.DONE


def _growth_options(
    models: str, size: str, shortest: int, longest: int, precisions: str, rope: str | None, memory: str, seconds: float
) -> GrowthOptions:
    names = [f"{name}-{size}" for name in PRESETS] if models == "all" else [name.strip() for name in models.split(",")]
    kinds = tuple(kind.strip() for kind in precisions.split(","))
    if unknown := set(kinds) - set(PRECISIONS):
        raise click.BadParameter(
            f"{', '.join(sorted(unknown))}: use {', '.join(PRECISIONS)}.", param_hint="--precision"
        )
    if longest < shortest:
        raise click.BadParameter(f"{longest} is less than --from {shortest}.", param_hint="--to")
    if rope:
        RopeScaling.parse(rope)
    limits = Limits(parse_size(memory, "--memory"), seconds)
    return GrowthOptions(tuple(names), limits, shortest, longest, kinds, rope)


@probe_command.command("needle")
@click.option(
    "--lengths",
    default="1000,10000,100000",
    show_default=True,
    help="Characters of the texts, separated by commas; up to 1000000.",
)
@click.option(
    "--depths", default="0,25,50,75,100", show_default=True, help="How deep to plant, in per cent, separated by commas."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed gives other facts and texts.")
@_background
@click.option("--png", "png_path", type=_Output, help="Draw the heat maps.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def needle_command(
    context: Context,
    lengths: str,
    depths: str,
    seed: int,
    background: Path | None,
    png_path: Path | None,
    as_json: bool,
) -> ExitCode:
    """Hide facts in long texts and ask for each, in English and Chinese.

    A fact counts as found when its chunk is among the first three; where a way of searching knows no chunks (one vector
    a document, the first window of one), when its document is the first. The library is not touched: the texts go into one of
    their own, which is thrown away.
    """
    options = NeedleOptions(
        tuple(_numbers(lengths, "--lengths", 200, 1_000_000)),
        tuple(depth / 100 for depth in _numbers(depths, "--depths", 0, 100)),
        seed,
    )
    encoder = load_encoder(context.settings.encoder, settings=context.settings)
    texts = _backgrounds(context.settings, background)
    quiet = context.quiet or as_json
    report = run_needle(texts, encoder, context.settings, options, lambda line: say(f"... {line}", quiet=quiet))
    values = needle_json(report)
    keep(context.settings, "needle", values)
    if png_path:
        png_path.write_bytes(needle_picture(report))
    if as_json:
        print_json(values)
    else:
        header, *lines = needle_table(report)
        print_table(header, lines)
    return ExitCode.DONE


def _numbers(text: str, option: str, least: int, most: int) -> list[int]:
    try:
        numbers = sorted({int(part) for part in text.split(",")})
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is not a list of whole numbers.", param_hint=option) from error
    if numbers[0] < least or numbers[-1] > most:
        raise click.BadParameter(f"numbers lie between {least:,} and {most:,}.", param_hint=option)
    return numbers


def _backgrounds(settings: Settings, folder: Path | None) -> dict[str, str]:
    """The haystack's text by language: from a folder, else from the library, else from the sample documents."""
    if folder is None:
        try:
            with Library.open(settings.library, settings) as library:
                if texts := read_backgrounds(library_texts(library)):
                    return texts
        except LibraryNotFoundError:
            pass  # nothing was added yet: the sample documents will do
        folder = _SAMPLES
    if not folder.is_dir():
        raise LongdocError("There is no text to hide facts in: add some documents first, or give --background FOLDER.")
    return read_backgrounds(folder_texts(folder, settings))


@probe_command.command("precision")
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@_background
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def precision_command(context: Context, folder: Path | None, background: Path | None, as_json: bool) -> ExitCode:
    """Compare float32, bfloat16 and int8 with your encoder: speed, memory, cosine to float32.

    With FOLDER (a judged collection, as for `evaluate`), nDCG@10 as well, with everything encoded in each precision.
    """
    from indexer.probe.precision import compare_precisions

    texts = _pieces(_backgrounds(context.settings, background))
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


@probe_command.command("baseline")
@click.option("--compare", is_flag=True, help="Compare with the baseline kept before, and keep the new one.")
@click.option(
    "--with",
    "other",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Compare with this report instead.",
)
@click.option(
    "--background", type=_Folder, help="A folder whose texts are used (else the sample documents, else the library)."
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
    from indexer.probe.baseline import baseline_from_json, baseline_json, compare_baselines, run_baseline

    settings = context.settings
    texts = _backgrounds(settings, background or (_SAMPLES if _SAMPLES.is_dir() else None))
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


def _pieces(backgrounds: dict[str, str], *, size: int = 600, count: int = 128) -> list[str]:
    """Equal pieces from the beginning of each language's text."""
    pieces = [text[first : first + size] for text in backgrounds.values() for first in range(0, len(text), size)]
    return pieces[:: max(len(pieces) // count, 1)][:count]
