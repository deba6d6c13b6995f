"""The verbs about documents that are there: list, show, remove, tag."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.opening import open_library
from indexer.cli.output import ExitCode, near, print_json, print_table, say, shown
from indexer.datatypes import Status
from indexer.errors import DocumentNotFoundError

if TYPE_CHECKING:
    from indexer.cli import Context
    from indexer.datatypes import FileReport, StoredDocument

STORED = [status.value for status in Status if status not in (Status.UNCHANGED, Status.REMOVED)]


@click.command("list")
@click.option("--status", "statuses", multiple=True, type=click.Choice(STORED), help="Only documents with this status.")
@click.option("--tag", "tags", multiple=True, help="Only documents with this tag.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def list_command(context: Context, statuses: tuple[str, ...], tags: tuple[str, ...], as_json: bool) -> ExitCode:
    """List the library's documents, with what could be read of each."""
    with open_library(context) as library:
        wanted = tuple(Status(status) for status in statuses) or None
        documents = [
            document
            for document in library.store.documents(wanted)
            if not tags or not set(tags).isdisjoint(document.tags)
        ]
    if as_json:
        print_json({"documents": [document_json(document) for document in documents]})
        return ExitCode.DONE
    if documents:
        print_table(
            ("ID", "STATUS", "PAGES", "CHUNKS", "READ", "DOCUMENT"),
            [
                (
                    str(document.id),
                    document.status.value + (" (outdated)" if document.outdated else ""),
                    "-" if document.page_count is None else str(document.page_count),
                    str(document.chunk_count),
                    percent(document.coverage) if document.status.searchable else "-",
                    name_of(document) + ("" if document.status.searchable else f": {document.reason}"),
                )
                for document in documents
            ],
        )
    counts = Counter(document.status for document in documents)
    say(f"{len(documents)} documents" + (f" ({totals(counts)})." if len(counts) > 1 else "."), quiet=context.quiet)
    return ExitCode.DONE


@click.command("show")
@click.argument("name", metavar="ID|PATH")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def show_command(context: Context, name: str, as_json: bool) -> ExitCode:
    """Show one document: where it lies, what it says of itself, and what of it could not be read."""
    with open_library(context) as library:
        found = library.store.find_by_path(str(Path(name).absolute()))
        if found is None and not name.isdigit():
            raise DocumentNotFoundError(f"No document lies at {near(str(Path(name).absolute()))}; see `longdoc list`.")
        document = found or library.store.document(int(name))
    if as_json:
        print_json({"documents": [document_json(document)]})
        return ExitCode.DONE
    click.echo(shown(name_of(document)))
    for label, value in _ledger(document):
        click.echo(shown(f"  {label:<11}{value}"))
    return ExitCode.DONE


@click.command("remove")
@click.argument("names", metavar="ID|PATH...", nargs=-1, required=True)
@click.option("--wait", is_flag=True, help="Wait while another process writes to the library.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def remove_command(context: Context, names: tuple[str, ...], wait: bool, as_json: bool) -> ExitCode:
    """Remove documents from the library, by id or by path; a folder's path removes all that lies below it.

    Nothing is deleted from your disk. A folder that was added is not looked at again by `sync`.
    """
    from indexer.ingest import remove, source_of

    with open_library(context, write=True) as library:
        removed = remove(library, names, wait=-1 if wait else 0)
        returning = [one.path for one in removed if source_of(one.path, library.store.sources()) is not None]
    if returning:
        which, them = ("1 of them lies", "it") if len(returning) == 1 else (f"{len(returning)} of them lie", "them")
        say(
            f"{which} in an added folder: `longdoc sync` brings {them} back, unless a .longdocignore file there names "
            f"{them}.",
            quiet=context.quiet,
        )
    if as_json:
        print_json({"documents": [_removed_json(report) for report in removed], "removed": len(removed)})
    else:
        for report in removed:
            click.echo(shown(f"removed {report.document_id}  {report.path}"))
    return ExitCode.DONE


@click.command("tag")
@click.argument("names", metavar="TAG", nargs=1)
@click.argument("document_ids", metavar="ID...", nargs=-1, required=True, type=int)
@click.option("--remove", "take_away", is_flag=True, help="Take the tag away instead.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def tag_command(
    context: Context, names: str, document_ids: tuple[int, ...], take_away: bool, as_json: bool
) -> ExitCode:
    """Give documents a tag, to search within (`--where tag=...`) and to list by."""
    with open_library(context, write=True) as library, library.write_lock():
        for document_id in document_ids:
            library.store.document(document_id)
        change = library.store.untag if take_away else library.store.tag
        change(document_ids, [names])
        documents = [library.store.document(document_id) for document_id in document_ids]
    if as_json:
        print_json({"documents": [document_json(document) for document in documents]})
    for document in () if as_json else documents:
        click.echo(shown(f"{document.id}  {name_of(document)}  [{', '.join(document.tags)}]"))
    return ExitCode.DONE


def document_json(document: StoredDocument) -> dict[str, Any]:
    """A document as every verb prints it in JSON."""
    return {
        "id": document.id,
        "title": document.title,
        "paths": list(document.paths),
        "status": document.status.value,
        "reason": document.reason,
        "coverage": round(document.coverage, 4),
        "pages": document.page_count,
        "unread_pages": list(document.unread_pages),
        "chars": document.chars,
        "chunks": document.chunk_count,
        "tokens": document.tokens,
        "language": document.language,
        "author": document.author,
        "created": document.created,
        "modified": document.modified,
        "media_type": document.media_type,
        "bytes": document.bytes,
        "sha256": document.sha256,
        "remarks": list(document.remarks),
        "outdated": list(document.outdated),
        "tags": list(document.tags),
        "added": document.added,
        "seconds": round(document.seconds, 3),
    }


def name_of(document: StoredDocument) -> str:
    """What a list calls a document: its title where it has one, and the path it lies at."""
    path = near(document.paths[0]) if document.paths else ""
    more = f" (and {len(document.paths) - 1} more)" if len(document.paths) > 1 else ""
    return f"{document.title} - {path}{more}" if document.title and document.title != path else path + more


def percent(share: float) -> str:
    """A share as a whole percentage that says 100 % only when nothing is missing."""
    return f"{min(round(share * 100), 99 if share < 1 else 100)} %"


def totals(counts: Counter[Status]) -> str:
    """How many of each status, in words."""
    return ", ".join(f"{counts[status]} {status.value.replace('_', ' ')}" for status in Status if counts[status])


def _ledger(document: StoredDocument) -> list[tuple[str, str]]:
    pages = "" if document.page_count is None else f"{document.page_count} pages, "
    rows = [
        ("id", str(document.id)),
        ("status", document.status.value + (f": {document.reason}" if document.reason else "")),
        ("read", f"{percent(document.coverage)} ({pages}{document.chars:,} characters)"),
        ("unread", "pages " + ranges(document.unread_pages) if document.unread_pages else ""),
        ("chunks", f"{document.chunk_count:,} of {document.tokens:,} tokens in all"),
        *[("outdated", sentence) for sentence in document.outdated],
        *[("remark", remark) for remark in document.remarks],
        ("author", document.author or ""),
        ("created", document.created or ""),
        ("modified", document.modified or ""),
        ("language", "" if document.language == "und" else document.language),
        ("type", document.media_type),
        ("size", f"{document.bytes:,} bytes"),
        ("tags", ", ".join(document.tags)),
        *[("path", path) for path in document.paths],
        ("added", document.added),
        ("sha256", document.sha256),
    ]
    return [(label, value) for label, value in rows if value]


def ranges(numbers: tuple[int, ...]) -> str:
    """Page numbers in words: 3, 5-9, 12."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _removed_json(report: FileReport) -> dict[str, Any]:
    return {"id": report.document_id, "path": report.path, "status": report.status.value}
