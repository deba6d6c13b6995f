"""The verb duplicates: groups of what is nearly the same, and what differs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.documents import name_of
from indexer.cli.opening import open_library
from indexer.cli.output import ExitCode, print_json, say, shown
from indexer.cli.waiting import progress_bar, record

if TYPE_CHECKING:
    from indexer.cli import Context
    from indexer.datatypes import StoredDocument
    from indexer.duplicates import Difference, Group, Pair
    from indexer.library import Library

_SHOWN_DIFFERENCES = 5
_REPORTED_DIFFERENCES = 100


@click.command("duplicates")
@click.option(
    "--threshold",
    type=click.FloatRange(0.05, 1.0),
    default=0.5,
    show_default=True,
    help="How alike two texts must be to count as versions: the Jaccard index of their 8-character shingles.",
)
@click.option("--translations/--no-translations", default=True, help="Look for translation candidates as well.")
@click.option("--differences/--no-differences", default=True, help="Say what differs between versions.")
@click.option("--csv", "csv_path", type=click.Path(path_type=Path), help="Write the groups to this CSV file as well.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def duplicates_command(
    context: Context, threshold: float, translations: bool, differences: bool, csv_path: Path | None, as_json: bool
) -> ExitCode:
    """Find what is nearly the same: copies, versions, documents inside others, translation candidates.

    Text that stands in many documents, such as a licence or a cover, does not count. Nothing is ever removed.
    """
    from indexer.duplicates import DuplicateOptions, find_duplicates, write_csv

    quiet = context.quiet or context.log_json
    with open_library(context) as library:
        generation = library.store.generation()
        with progress_bar(context) as progress:
            report = find_duplicates(library, DuplicateOptions(threshold, translations), progress)
        if csv_path is not None:
            write_csv(report, csv_path)
            say(f"The groups are in {csv_path}.", quiet=quiet)
        if context.log_json:
            counts = {"groups": len(report.groups), "documents": report.compared, "compared_pairs": report.candidates}
            record("done", **counts, seconds=round(report.seconds, 3))
        if as_json:
            groups = [_group_json(library, group, differences) for group in report.groups]
            boilerplate = [{"text": text.text, "documents": text.documents} for text in report.boilerplate]
            print_json(
                {
                    "groups": groups,
                    "boilerplate": boilerplate,
                    "documents": report.compared,
                    "compared_pairs": report.candidates,
                    "generation": generation,
                    "seconds": round(report.seconds, 3),
                }
            )
            return ExitCode.DONE
        for group in report.groups:
            _print_group(library, group, differences)
        for text in report.boilerplate:
            click.echo(shown(f"Boilerplate, in {text.documents} documents: {_clipped(text.text)}"))
    say(
        f"{len(report.groups)} groups among {report.compared} documents ({report.seconds:.1f} s).",
        quiet=quiet,
    )
    return ExitCode.DONE


def _group_json(library: Library, group: Group, differences: bool) -> dict[str, Any]:
    found = _differences(library, group) if differences else []
    return {
        "id": group.id,
        "relation": group.relation.value,
        "similarity": round(group.similarity, 4),
        "shared_chunks": group.shared_chunks,
        "documents": [_document_json(document) for document in group.documents],
        "keep": {"id": group.keep, "reason": group.reason},
        "pairs": [_pair_json(library, pair) for pair in group.pairs],
        "through": group.through,
        "differences": [
            {
                "a": pair.a,
                "b": pair.b,
                "total": len(every),
                "shown": [_difference_json(d) for d in every[:_REPORTED_DIFFERENCES]],
            }
            for pair, every in found
        ],
    }


def _document_json(document: StoredDocument) -> dict[str, Any]:
    return {
        "id": document.id,
        "title": document.title,
        "paths": list(document.paths),
        "modified": document.modified,
        "chunks": document.chunk_count,
    }


def _pair_json(library: Library, pair: Pair) -> dict[str, Any]:
    return {
        "a": pair.a,
        "b": pair.b,
        "relation": pair.relation.value,
        "similarity": pair.similarity,
        "share_a_in_b": pair.share_a_in_b,
        "share_b_in_a": pair.share_b_in_a,
        "in_order": pair.in_order,
        "shared_chunks": pair.shared_chunks,
        "sections": [
            {
                "a": _place_json(library, pair.a, section.first_a, section.last_a),
                "b": _place_json(library, pair.b, section.first_b, section.last_b),
                "bytes": section.length,
            }
            for section in pair.sections
        ],
    }


def _place_json(library: Library, document_id: int, first: int, last: int) -> dict[str, Any]:
    places = (first, (first + last + 1) // 2, last)
    (start,), (middle,), (end,) = (library.store.document_chunks(document_id, place, 1) for place in places)
    return {
        "first_chunk": first,
        "last_chunk": last,
        "first_page": start.chunk.first_page,
        "last_page": end.chunk.last_page,
        "heading": middle.chunk.headings[-1] if middle.chunk.headings else None,
    }


def _difference_json(difference: Difference) -> dict[str, Any]:
    return {
        "kind": difference.kind,
        "before": difference.before,
        "after": difference.after,
        "times": difference.times,
        "facts": [
            {"kind": fact.kind, "before": list(fact.before), "after": list(fact.after)} for fact in difference.facts
        ],
    }


def _differences(library: Library, group: Group) -> list[tuple[Pair, tuple[Difference, ...]]]:
    """What changed from each other version to the document to keep."""
    from indexer.duplicates import Relation, compare

    if group.relation is not Relation.VERSION:
        return []
    pairs = [pair for pair in group.pairs if group.keep in (pair.a, pair.b) and pair.relation is Relation.VERSION]
    compared = (compare(library, pair.a if pair.b == group.keep else pair.b, group.keep) for pair in pairs)
    return [(comparison.pair, comparison.differences) for comparison in compared]


def _print_group(library: Library, group: Group, differences: bool) -> None:
    from indexer.duplicates import Relation

    names = {document.id: name_of(document) for document in group.documents}
    click.echo(shown(f"Group {group.id}: {group.relation.meaning}"))
    for document in group.documents:
        for path in document.paths or (name_of(document),):
            click.echo(shown(f"  {document.id:>5}  {path}"))
    for pair in group.pairs:
        click.echo(
            shown(
                f"         {pair.a} ~ {pair.b}: {pair.similarity:.0%} alike; "
                f"{pair.share_a_in_b:.0%} of {pair.a} is in {pair.b}, {pair.share_b_in_a:.0%} of {pair.b} in {pair.a}"
            )
        )
        for section in pair.sections if group.relation is Relation.SECTION else ():
            here = _place(library, pair.a, section.first_a, section.last_a)
            there = _place(library, pair.b, section.first_b, section.last_b)
            click.echo(shown(f"           {pair.a} {here} = {pair.b} {there}"))
    click.echo(shown(f"         keep {group.keep} ({names[group.keep]}): {group.reason}"))
    for pair, every in _differences(library, group) if differences else ():
        click.echo(shown(f"         {pair.a} -> {pair.b}: {len(every)} differences"))
        for difference in every[:_SHOWN_DIFFERENCES]:
            click.echo(shown(f"           {_in_words(difference)}"))


def _place(library: Library, document_id: int, first: int, last: int) -> str:
    """Where a section stands, by pages where the document has them, and the heading its middle is under."""
    place = _place_json(library, document_id, first, last)
    what, begin, end = "pages", place["first_page"], place["last_page"]
    if begin is None or end is None:
        what, begin, end = "chunks", first + 1, last + 1
    numbers = f"{what} {begin}-{end}" if begin != end else f"{what[:-1]} {begin}"
    return numbers + (f" ({place['heading']})" if place["heading"] else "")


def _in_words(difference: Difference) -> str:
    """A difference in one line: the facts when they differ, else the sentence."""
    if difference.kind == "changed" and difference.facts:
        facts = (
            f"{fact.kind} {', '.join(fact.before) or '-'} -> {', '.join(fact.after) or '-'}"
            for fact in difference.facts
        )
        return "; ".join(facts) + f"   in: {_clipped(difference.after)}"
    if difference.kind == "changed":
        return f"changed: {_clipped(difference.before)} -> {_clipped(difference.after)}"
    times = f" ({difference.times} times)" if difference.times > 1 else ""
    return f"{difference.kind}{times}: {_clipped(difference.before or difference.after)}"


def _clipped(text: str, room: int = 80) -> str:
    line = " ".join(text.split())
    return line if len(line) <= room else line[: room - 1] + "…"
