"""The verb that measures how well documents are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.opening import open_library
from indexer.cli.output import ExitCode, print_json, print_table, say
from indexer.datatypes import Mode

if TYPE_CHECKING:
    from indexer.cli import Context
    from indexer.evaluate import Difference, Evaluation

    Comparison = tuple[Evaluation, tuple[Difference, ...]]

_MODES = [mode.value for mode in Mode]


@click.command("evaluate")
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option(
    "--from-library",
    is_flag=True,
    help="Make a test from your own documents: sentences taken out, and facts put in, that are then asked for.",
)
@click.option("--mode", type=click.Choice(_MODES), default=Mode.HYBRID.value, show_default=True, help="How to search.")
@click.option(
    "--against",
    multiple=True,
    metavar="MODE|FILE",
    help="Compare to another mode, or to a run kept with --save, by a paired bootstrap; may be given again.",
)
@click.option(
    "--save", type=click.Path(dir_okay=False, path_type=Path), help="Keep the run, query by query, in a file."
)
@click.option("--queries", type=click.IntRange(min=1), help="Ask only the first so many queries.")
@click.option(
    "--window",
    type=click.IntRange(0),
    help="Encode with consecutive chunks of so many tokens sharing one pass (0: none do), in a library of their own.",
)
@click.option("--per-query", is_flag=True, help="Print every query's result.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def evaluate_command(
    context: Context, /, folder: Path | None, as_json: bool, per_query: bool, **wanted: Any
) -> ExitCode:
    """Measure the search on a FOLDER in the BEIR layout, or on your own library.

    The folder holds corpus.jsonl, queries.jsonl, qrels/test.tsv and, where the answers' places are known,
    spans.jsonl. What was encoded is kept in the cache: the next evaluation of the same folder takes seconds.
    """
    if (folder is None) != wanted["from_library"]:
        raise click.UsageError("Give either a FOLDER or --from-library.")
    if folder is None and wanted["window"] is not None:
        raise click.UsageError("--window goes with a FOLDER: a library is measured as it was built.")
    ours, others = _measured(context, folder, wanted)
    if wanted["save"]:
        from indexer.evaluate import save_evaluation

        save_evaluation(ours, wanted["save"])
    parts = [(ours, others)] if folder is not None else _parted(ours, others)
    compared = [(one, _compared(one, against)) for one, against in parts]
    if as_json:
        values = [_json(one, comparisons, per_query=per_query) for one, comparisons in compared]
        print_json(values[0] if folder is not None else {"evaluations": values})
    else:
        for place, (one, comparisons) in enumerate(compared):
            _print(one, comparisons, per_query=per_query, after=place > 0)
    return ExitCode.DONE


def _measured(context: Context, folder: Path | None, wanted: dict[str, Any]) -> tuple[Evaluation, list[Evaluation]]:
    """The run that is asked for, and those it is compared to."""
    from indexer.evaluate import EvaluateOptions, evaluate_folder, evaluate_own, load_evaluation

    modes = [wanted["mode"], *(other for other in wanted["against"] if other in _MODES)]
    stored = [load_evaluation(Path(other)) for other in wanted["against"] if other not in _MODES]
    options = [EvaluateOptions(Mode(mode), wanted["queries"]) for mode in modes]
    settings = context.settings if wanted["window"] is None else replace(context.settings, window=wanted["window"])
    if folder is None:
        with open_library(context) as library:
            ours, *others = evaluate_own(library, settings, options, progress=_progress(context))
    else:
        ours, *others = evaluate_folder(folder, settings, options, progress=_progress(context))
    return ours, [*others, *stored]


def _parted(ours: Evaluation, others: list[Evaluation]) -> list[tuple[Evaluation, list[Evaluation]]]:
    """A run over one's own documents by what was asked, each with the same of those it is compared to."""
    from indexer.evaluate import by_kind

    kinds = [by_kind(other) for other in others]
    return [(one, [other[kind] for other in kinds if kind in other]) for kind, one in by_kind(ours).items()]


def _compared(ours: Evaluation, others: list[Evaluation]) -> list[Comparison]:
    from indexer.evaluate import compare_evaluations

    return [(other, compare_evaluations(ours, other)) for other in others]


def _progress(context: Context) -> Callable[[int, int], None]:
    return lambda done, of: say(f"{done} of {of} documents encoded", quiet=context.quiet)


def _json(ours: Evaluation, comparisons: list[Comparison], *, per_query: bool) -> dict[str, Any]:
    from indexer.evaluate import evaluation_json

    value = evaluation_json(ours, per_query=per_query)
    if comparisons:
        value["comparisons"] = [
            {
                **evaluation_json(other),
                "differences": {
                    one.figure: {
                        "mean": round(one.mean, 4),
                        "low": round(one.low, 4),
                        "high": round(one.high, 4),
                        "p": round(one.p, 4),
                        "better": one.better,
                        "worse": one.worse,
                    }
                    for one in differences
                },
            }
            for other, differences in comparisons
        ]
    return value


def _print(ours: Evaluation, comparisons: list[Comparison], *, per_query: bool, after: bool) -> None:
    from indexer.evaluate import KINDS

    if after:
        click.echo("")
    click.echo(
        f"{ours.name}: {ours.documents} documents of {ours.tokens:,} tokens, {len(ours.results)} queries, "
        f"{ours.mode.value}, {ours.seconds:.1f} s"
    )
    if (told := KINDS.get(ours.name.rpartition(", ")[2])) is not None:
        click.echo(told)
    runs = [ours, *(other for other, _ in comparisons)]
    header = ["figure", *(run.mode.value for run in runs)]
    rows = [
        [name, *("-" if (value := run.figures[name]) is None else f"{value:.3f}" for run in runs)]
        for name in ours.figures
    ]
    print_table(header, rows)
    for other, differences in comparisons:
        click.echo(f"\n{ours.mode.value} less {other.mode.value}, with 95 % intervals of a paired bootstrap:")
        for one in differences:
            said = "" if one.beyond_chance else "  (may be chance)"
            click.echo(
                f"  {one.figure:<10} {one.mean:+.3f}  [{one.low:+.3f}, {one.high:+.3f}]  "
                f"better on {one.better}, worse on {one.worse}{said}"
            )
    if per_query:
        click.echo("")
        rows = [
            [
                result.id,
                f"{result.ndcg:.3f}",
                str(result.first_right or "-"),
                str(result.chunk_rank or "-"),
                result.query,
            ]
            for result in ours.results
        ]
        print_table(["query", "ndcg@10", "rank", "chunk", "text"], rows)
