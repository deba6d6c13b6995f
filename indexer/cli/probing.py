"""The verb probe: measure on this machine how cost grows with length, and where facts get lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from indexer.cli import Context
from indexer.cli.comparing import baseline_command, precision_command
from indexer.cli.haystack import background_option, backgrounds_of
from indexer.cli.output import ExitCode, print_json, print_table, say
from indexer.encode import PRECISIONS, PRESETS, SIZES, Cost, Limits, RopeScaling, load_encoder
from indexer.probe import (
    GROWTH_HEADER,
    Growth,
    GrowthOptions,
    Measure,
    NeedleOptions,
    NeedleReport,
    growth_csv,
    growth_json,
    growth_picture,
    growth_table,
    keep,
    missed,
    needle_json,
    needle_picture,
    needle_table,
    run_growth,
    run_needle,
)
from indexer.settings import parse_size

_Folder = click.Path(path_type=Path, exists=True, file_okay=False)
_Output = click.Path(path_type=Path, dir_okay=False, writable=True)


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
    context: Context, /, csv_path: Path | None, png_path: Path | None, as_json: bool, **plan: Any
) -> ExitCode:
    """Measure how time and memory grow with length, each trial in a fresh process under limits.

    Presets have random weights: what they cost is measured, not what they understand. With --rope-scaling the same is
    true of a trained model.
    """
    options = _growth_options(**plan)
    if options.rope:
        say("Rope scaling: what follows is cost. Quality beyond the trained length is not measured.")
    costs: list[Cost] = []
    try:
        for cost in run_growth(options):
            costs.append(cost)
            say(_told(cost), quiet=context.quiet or as_json)
    finally:  # what a run that is ended early has measured is kept all the same
        growth = Growth(options, tuple(costs))
        keep(context.settings, "growth", growth_json(growth))
        if csv_path:
            csv_path.write_text(growth_csv(growth), encoding="utf-8")
        if png_path:
            png_path.write_bytes(growth_picture(growth))
    if as_json:
        print_json(growth_json(growth))
    else:
        print_table(GROWTH_HEADER, growth_table(growth))
    return ExitCode.DONE


def _growth_options(models: str, size: str, precisions: str, rope: str | None, **bounds: Any) -> GrowthOptions:
    names = [f"{name}-{size}" for name in PRESETS] if models == "all" else [name.strip() for name in models.split(",")]
    kinds = tuple(kind.strip() for kind in precisions.split(","))
    if unknown := set(kinds) - set(PRECISIONS):
        raise click.BadParameter(
            f"{', '.join(sorted(unknown))}: use {', '.join(PRECISIONS)}.", param_hint="--precision"
        )
    if rope:
        RopeScaling.parse(rope)
    return _bounded(GrowthOptions(tuple(names), precisions=kinds, rope=rope), **bounds)


def _bounded(options: GrowthOptions, shortest: int, longest: int, memory: str, seconds: float) -> GrowthOptions:
    if longest < shortest:
        raise click.BadParameter(f"{longest} is less than --from {shortest}.", param_hint="--to")
    limits = Limits(parse_size(memory, "--memory"), seconds)
    return replace(options, shortest=shortest, longest=longest, limits=limits)


def _told(cost: Cost) -> str:
    trial = cost.trial
    figures = f"{cost.seconds:.2f} s, {cost.peak_mb:,.0f} MB" if cost.seconds else cost.reason
    return f"{Path(trial.model).name} {trial.precision} {trial.length:,} tokens: {cost.outcome.value}, {figures}"


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
@click.option("--runs", type=click.IntRange(1), default=1, show_default=True, help="So many seeds, from --seed on.")
@background_option
@click.option("--png", "png_path", type=_Output, help="Draw the heat maps.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def needle_command(
    context: Context, /, background: Path | None, png_path: Path | None, as_json: bool, **plan: Any
) -> ExitCode:
    """Hide facts in long texts and ask for each, in English and Chinese.

    Two things are counted, each of every way of searching that can have it: the fact's chunk is among the first three,
    and the fact's document is the first. One vector for a whole text, or for its first window, knows no chunks. Where
    there is less background than a text is long, it is repeated. The library is not touched: the texts go into one of
    their own, which is thrown away.
    """
    options = _needle_options(**plan)
    encoder = load_encoder(context.settings.encoder, settings=context.settings)
    texts = backgrounds_of(context.settings, background)
    quiet = context.quiet or as_json
    report = run_needle(texts, encoder, context.settings, options, lambda line: say(f"... {line}", quiet=quiet))
    values = needle_json(report)
    keep(context.settings, "needle", values)
    if png_path:
        png_path.write_bytes(needle_picture(report))
    if as_json:
        print_json(values)
    else:
        _print_needles(report)
    return ExitCode.DONE


def _print_needles(report: NeedleReport) -> None:
    sizes = ", ".join(f"{size:,} characters of {language}" for language, size in report.background.items())
    click.echo(f"Background: {sizes}. {report.documents} texts are searched at a time.")
    for measure in Measure:
        click.echo("")
        header, *lines = needle_table(report, measure)
        print_table(header, lines)
    if lost := missed(report, report.methods[0], Measure.CHUNK):
        click.echo(f"\nNot among the first three by {report.methods[0]}:")
        for one in lost:
            rank = "not found" if one.chunk_rank is None else f"rank {one.chunk_rank}"
            click.echo(f"  {one.language}, {one.length:,} characters, depth {one.depth:.0%}: {rank}")


def _needle_options(lengths: str, depths: str, seed: int, runs: int) -> NeedleOptions:
    return NeedleOptions(
        tuple(_numbers(lengths, "--lengths", 200, 1_000_000)),
        tuple(depth / 100 for depth in _numbers(depths, "--depths", 0, 100)),
        tuple(range(seed, seed + runs)),
    )


def _numbers(text: str, option: str, least: int, most: int) -> list[int]:
    try:
        numbers = sorted({int(part) for part in text.split(",")})
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is not a list of whole numbers.", param_hint=option) from error
    if numbers[0] < least or numbers[-1] > most:
        raise click.BadParameter(f"numbers lie between {least:,} and {most:,}.", param_hint=option)
    return numbers


probe_command.add_command(precision_command)
probe_command.add_command(baseline_command)
