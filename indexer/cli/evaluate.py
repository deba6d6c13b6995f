"""The verb that measures how well documents are found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.output import ExitCode, print_json, print_table, say
from indexer.datatypes import Mode

if TYPE_CHECKING:
    from indexer.cli import Context
    from indexer.evaluate import Difference, Evaluation

_MODES = [mode.value for mode in Mode]


@click.command("evaluate")
@click.argument("folder", type=click.Path(path_type=Path))
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
@click.option("--per-query", is_flag=True, help="Print every query's result.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def evaluate_command(context: Context, /, folder: Path, as_json: bool, per_query: bool, **wanted: Any) -> ExitCode:
    """Measure the search on a FOLDER in the BEIR layout.

    It holds corpus.jsonl, queries.jsonl, qrels/test.tsv and, where the answers' places are known, spans.jsonl. What was
    encoded is kept in the cache, so that the next evaluation of the same folder takes seconds.
    """
    from indexer.evaluate import EvaluateOptions, compare_evaluations, evaluate_folder, load_evaluation, save_evaluation

    modes = [wanted["mode"], *(other for other in wanted["against"] if other in _MODES)]
    stored = [load_evaluation(Path(other)) for other in wanted["against"] if other not in _MODES]
    options = [EvaluateOptions(Mode(mode), wanted["queries"]) for mode in modes]
    ours, *others = evaluate_folder(
        folder,
        context.settings,
        options,
        progress=lambda done, of: say(f"{done} of {of} documents encoded", quiet=context.quiet),
    )
    if wanted["save"]:
        save_evaluation(ours, wanted["save"])
    comparisons = [(other, compare_evaluations(ours, other)) for other in (*others, *stored)]
    if as_json:
        print_json(_json(ours, comparisons, per_query=per_query))
    else:
        _print(ours, comparisons, per_query=per_query)
    return ExitCode.DONE


def _json(
    ours: Evaluation, comparisons: list[tuple[Evaluation, tuple[Difference, ...]]], *, per_query: bool
) -> dict[str, Any]:
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


def _print(ours: Evaluation, comparisons: list[tuple[Evaluation, tuple[Difference, ...]]], *, per_query: bool) -> None:
    click.echo(
        f"{ours.name}: {ours.documents} documents of {ours.tokens:,} tokens, {len(ours.results)} queries, "
        f"{ours.mode.value}, {ours.seconds:.1f} s"
    )
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
