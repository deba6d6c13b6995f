"""The verbs that read a library: search it, and measure how well it is searched."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.output import ExitCode, near, print_json, printable, say
from indexer.datatypes import Hit, Mode, SearchResult, Span

if TYPE_CHECKING:
    from indexer.cli import Context

_WIDTH = 100
_SHOWN = 480


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("-k", default=10, show_default=True, type=click.IntRange(1, 1000), help="How many hits.")
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default=Mode.HYBRID.value,
    show_default=True,
    help="By meaning and words, by meaning alone, or by words alone.",
)
@click.option(
    "--by",
    type=click.Choice(["document", "chunk"]),
    default="document",
    show_default=True,
    help="One hit a document, or one a passage.",
)
@click.option(
    "--where",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Only documents with source, path, type, language, tag, status, title, after, before, id or cluster as given.",
)
@click.option("--across", is_flag=True, help="Look for documents in another language than the query.")
@click.option("--more", multiple=True, type=int, metavar="CHUNK", help="More like this passage (its chunk number).")
@click.option("--less", multiple=True, type=int, metavar="CHUNK", help="Less like this passage.")
@click.option("--all-copies", is_flag=True, help="Show versions and copies as hits of their own.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def search_command(context: Context, /, query: tuple[str, ...], as_json: bool, **wanted: Any) -> ExitCode:
    """Find the passages that answer QUERY, best first.

    "late delivery" in quotes must stand word for word, -draft leaves documents with that word out, and title: path:
    lang: tag: type: before: after: narrow the search: `longdoc search 'rent "notice period" -draft after:2023'`.
    """
    from indexer.library import Library
    from indexer.search import Grouping, SearchOptions, search_library

    options = SearchOptions(
        k=wanted["k"],
        mode=Mode(wanted["mode"]),
        by=Grouping(wanted["by"]),
        where=wanted["where"],
        across=wanted["across"] or None,
        more=wanted["more"],
        less=wanted["less"],
        fold_copies=not wanted["all_copies"],
    )
    with Library.open(context.library_path, context.settings) as library:
        result = search_library(library, " ".join(query), options)
    if as_json:
        print_json(result_json(result))
        return ExitCode.DONE
    for warning in result.warnings:
        say(warning, quiet=context.quiet and bool(result.hits))
    for suggestion in result.suggestions:
        say(f"- {suggestion}", quiet=context.quiet)
    for hit in result.hits:
        click.echo(printable(_describe(hit)))
    return ExitCode.DONE


def result_json(result: SearchResult) -> dict[str, Any]:
    """A search's answer as the contract has it."""
    return {
        "query": result.query,
        "mode": result.mode.value,
        "hits": [_hit_json(hit) for hit in result.hits],
        "seconds": round(result.seconds, 4),
        "warnings": list(result.warnings),
        "relevant": result.relevant,
        "suggestions": list(result.suggestions),
    }


def _hit_json(hit: Hit) -> dict[str, Any]:
    return {
        "rank": hit.rank,
        "score": round(hit.score, 4),
        "document": {"id": hit.document.id, "title": hit.document.display_title, "paths": list(hit.document.paths)},
        "chunk": hit.chunk_id,
        "page": hit.page,
        "page_label": hit.page_label,
        "headings": list(hit.headings),
        "start": hit.span.start,
        "end": hit.span.end,
        "text": hit.text,
        "highlights": [[span.start, span.end] for span in hit.highlights],
        "sentence": [hit.sentence.start, hit.sentence.end] if hit.sentence else None,
        "why": {"dense": _rounded(hit.why.dense), "lexical": _rounded(hit.why.lexical)},
        "others": [
            {"chunk": other.chunk_id, "page": other.page, "start": other.span.start, "end": other.span.end}
            for other in hit.others
        ],
        "copies": [{"id": copy.id, "title": copy.display_title, "paths": list(copy.paths)} for copy in hit.copies],
    }


def _rounded(part: float | None) -> float | None:
    return None if part is None else round(part, 4)


def _describe(hit: Hit) -> str:
    """A hit as a person reads it in a terminal: title, where, and the passage with its words marked."""
    title = click.style(_one_line(hit.document.display_title), bold=True)
    where = [_one_line(" › ".join(hit.headings))] if hit.headings else []
    if hit.page is not None:
        where.append(f"page {hit.page_label or hit.page}")
    where.append(_place(hit.document.paths[0]) if hit.document.paths else "")
    lines = [f"{hit.rank:>2}. {title}", "    " + click.style(" · ".join(part for part in where if part), fg="cyan")]
    lines += ["    " + line for line in _passage(hit)]
    if hit.copies:
        names = ", ".join(_place(copy.paths[0] if copy.paths else copy.display_title) for copy in hit.copies[:3])
        more = f" and {len(hit.copies) - 3} more" if len(hit.copies) > 3 else ""
        lines.append(click.style(f"    nearly the same in {names}{more}", dim=True))
    return "\n".join(lines) + "\n"


def _passage(hit: Hit) -> list[str]:
    """About five lines around the best sentence; the marks are put in after wrapping, so that lines stay even."""
    from indexer.search import excerpt

    shown = excerpt(hit.text, hit.sentence, _SHOWN)
    text, marks = _squeezed(hit.text, shown, hit.highlights)
    lines = textwrap.wrap(text, _WIDTH, break_long_words=True, break_on_hyphens=False, drop_whitespace=True)
    result: list[str] = []
    place = 0
    for line in lines:
        start = text.index(line, place)
        place = start + len(line)
        result.append(_marked(line, [(a - start, b - start) for a, b in marks if a < place and b > start]))
    if result and shown.start > 0:
        result[0] = "… " + result[0]
    if result and shown.end < len(hit.text.rstrip()):
        result[-1] += " …"
    return result


def _squeezed(text: str, shown: Span, highlights: tuple[Span, ...]) -> tuple[str, list[tuple[int, int]]]:
    """The shown part on one line without control characters, and the marks in it."""
    kept: list[str] = []
    places: list[int] = []
    for character in shown.of(text):
        places.append(len(kept))
        if character.isspace():
            if kept and kept[-1] != " ":
                kept.append(" ")
        elif character.isprintable():
            kept.append(character)
    places.append(len(kept))
    marks = [
        (places[max(span.start, shown.start) - shown.start], places[min(span.end, shown.end) - shown.start])
        for span in highlights
        if span.start < shown.end and span.end > shown.start
    ]
    return "".join(kept), marks


def _marked(line: str, marks: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    place = 0
    for start, end in marks:
        start, end = max(start, place), min(end, len(line))
        if start < end:
            parts += [line[place:start], click.style(line[start:end], bold=True, fg="yellow")]
            place = end
    return "".join([*parts, line[place:]])


def _place(path: str) -> str:
    return _one_line(near(path))


def _one_line(text: str) -> str:
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())
