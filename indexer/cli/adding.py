"""The verbs that bring documents in: add, sync."""

from __future__ import annotations

import json
import os
import shlex
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from indexer.cli.opening import open_library
from indexer.cli.output import ExitCode
from indexer.cli.running import Bar, Lines, Records, exit_code, run_json, stoppable, tell
from indexer.datatypes import RunReport, Status
from indexer.errors import SettingsError
from indexer.machine import read_cores
from indexer.settings import parse_size

if TYPE_CHECKING:
    from indexer.cli import Context
    from indexer.duplicates import Overlap
    from indexer.ingest import AddOptions, Listener
    from indexer.library import Library
    from indexer.settings import Settings

_COMPARED = 20
"""So many new documents of a run are compared with what was there."""

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--retry", is_flag=True, help="Look again into files that failed, although they did not change."),
    click.option("--password", "passwords", multiple=True, help="A password to try (repeatable); it is not kept."),
    click.option(
        "--password-file",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="A file with a password to try on each line.",
    ),
    click.option("--ocr", type=click.Choice(["auto", "never", "always"]), help="Read pictures of text."),
    click.option("--memory", metavar="SIZE", help="What the process may take, such as 2GB."),
    click.option("--precision", type=click.Choice(["auto", "float32", "bfloat16", "int8"]), help="How to calculate."),
    click.option("--threads", type=click.IntRange(0), help="Threads of the encoder (0: as measured best here)."),
    click.option("--batch-tokens", type=click.IntRange(0), help="Tokens a batch (0: as measured best here)."),
    click.option("--nice", is_flag=True, help="Keep a core free and let other programs go first."),
    click.option("--wait", is_flag=True, help="Wait while another process writes to the library."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
)


def run_options(command: Command) -> Command:
    """The options that every verb that reads documents has."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command("add")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Add N files only, and tell what all would cost.")
@click.option("--encoder", metavar="NAME|DIR", help="Encoder of a new library: e5-small, minilm or a model's folder.")
@click.option("--pooling", type=click.Choice(["weighted", "mean", "max"]), help="Document embeddings of a new library.")
@click.option(
    "--window",
    type=click.IntRange(0),
    metavar="TOKENS",
    help="In a new library, let consecutive chunks of so many tokens share one pass of the encoder (0: none do).",
)
@click.option("--allow-download", is_flag=True, help="Let the encoder be fetched from the model hub.")
@click.option("--trust-remote-code", is_flag=True, help="Let the encoder's folder run code of its own.")
@run_options
@click.pass_obj
def add_command(context: Context, /, paths: tuple[str, ...], as_json: bool, **chosen: Any) -> ExitCode:
    """Add files and folders to the library; folders are remembered for `sync`.

    Files that did not change are passed over, text that was encoded before is not encoded again, and a run that was
    stopped or killed is taken up where it was. A .longdocignore file (in the manner of .gitignore) leaves files out.
    """
    from indexer.ingest import add

    return _run(
        context,
        chosen,
        lambda library, options, listener: add(library, paths, options, listener),
        as_json=as_json,
        again=f"longdoc add {shlex.join(paths)}",
        create=True,
    )


@click.command("sync")
@run_options
@click.pass_obj
def sync_command(context: Context, /, as_json: bool, **chosen: Any) -> ExitCode:
    """Look through every added folder again: new and changed files come in, what is gone is removed.

    A folder that is not there, such as one on a disk that is not mounted, keeps its documents.
    """
    from indexer.ingest import sync

    return _run(context, chosen, sync, as_json=as_json, again="longdoc sync", create=False)


@click.command("watch")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option(
    "--settle", type=click.FloatRange(0), default=3.0, show_default=True, help="Seconds a file must lie still first."
)
@run_options
@click.pass_obj
def watch_command(context: Context, /, paths: tuple[str, ...], as_json: bool, **chosen: Any) -> ExitCode:
    """Follow the added folders (and PATHs, which are added) until Ctrl-C: changes come in as they happen.

    What happened while nobody watched is made up for first. A file that is still being written is waited for.
    With --json each round is one JSON document a line.
    """
    from indexer.ingest import Listener, remember, watch

    context = replace(context, settings=chosen_settings(context.settings, chosen))
    options = add_options(context.settings, chosen)
    stopping = threading.Event()
    shows = Records() if context.log_json else Lines(quiet=context.quiet or as_json)
    listener = Listener(shows.progress, shows.file, stopping)

    def finished(report: RunReport) -> None:
        shows.done(report)
        if as_json and len(report.files) > report.unchanged:
            click.echo(json.dumps(run_json(report)))
        if report.added or report.updated or report.removed:
            _centre(library, options)

    with open_library(context, write=True, create=bool(paths)) as library, stoppable(stopping):
        remember(library, paths, wait=options.wait)
        watch(library, options, listener, finished, chosen["settle"])
    return ExitCode.DONE


def _run(
    context: Context,
    chosen: dict[str, Any],
    work: Callable[[Library, AddOptions, Listener], RunReport],
    *,
    as_json: bool,
    again: str,
    create: bool,
) -> ExitCode:
    from indexer.ingest import Listener

    context = replace(context, settings=chosen_settings(context.settings, chosen))
    allowed = None if context.settings.memory == "auto" else parse_size(context.settings.memory, "memory")
    if chosen["nice"]:
        os.nice(10)
    options = add_options(context.settings, chosen)
    shows = Records() if context.log_json else Bar(enabled=not context.quiet)
    stopping = threading.Event()
    listener = Listener(shows.progress, shows.file, stopping)
    with open_library(context, write=True, create=create) as library, stoppable(stopping):
        try:
            report = work(library, options, listener)
            if report.added or report.updated or report.removed:
                _centre(library, options)
            overlaps = {} if report.stopped else _overlaps(library, report)
        finally:
            shows.close()
    report = replace(report, warnings=(*report.warnings, *_above(allowed, report)))
    if isinstance(shows, Records):
        shows.done(report)
    tell(report, overlaps, as_json=as_json, quiet=context.quiet or context.log_json, again=again)
    return exit_code(report)


def _above(allowed: int | None, report: RunReport) -> list[str]:
    """Say when less memory was allowed than the encoder needs even with the smallest batches."""
    if allowed is None or report.peak_rss_mb * 1e6 <= allowed:
        return []
    return [
        f"The process took {report.peak_rss_mb:,.0f} MB, more than the {allowed / 1e6:,.0f} MB of --memory: "
        "with the smallest batches it does not work in less."
    ]


def _overlaps(library: Library, report: RunReport) -> dict[str, Overlap]:
    """What of the new documents the library had already, by path; for the first of a run only, since it takes time."""
    new = [file for file in report.files if file.status.searchable and file.document_id is not None][:_COMPARED]
    if not new or library.store.counts().documents <= 1:
        return {}
    from indexer.duplicates import overlap_of

    found = ((file.path, overlap_of(library, file.document_id or 0)) for file in new)
    return {path: overlaps[0] for path, overlaps in found if overlaps}


def _centre(library: Library, options: AddOptions) -> None:
    """Let the language means follow what the library holds now, where that is due."""
    from indexer.search.means import refresh_means

    with library.write_lock(options.wait):
        refresh_means(library)


def chosen_settings(settings: Settings, chosen: dict[str, Any]) -> Settings:
    """The settings with what the verb's options say in their place."""
    named = ("ocr", "memory", "precision", "threads", "batch_tokens", "encoder", "window")
    settings = replace(settings, **{name: chosen[name] for name in named if chosen.get(name) is not None})
    if chosen.get("pooling"):
        settings = replace(settings, document_pooling=chosen["pooling"])
    if chosen.get("allow_download"):
        settings = replace(settings, allow_download="yes")
    if chosen.get("trust_remote_code"):
        settings = replace(settings, trust_remote_code="yes")
    if chosen["nice"] and not settings.threads:
        settings = replace(settings, threads=max(1, read_cores().usable - 1))
    return settings


def add_options(settings: Settings, chosen: dict[str, Any]) -> AddOptions:
    """How the run is to be made. A new password or `--ocr always` looks again into what could not be read without."""
    from indexer.ingest import AddOptions
    from indexer.parse import ReadOptions

    passwords = (*chosen["passwords"], *_passwords_in(chosen["password_file"]))
    again: set[Status] = set()
    if chosen["retry"]:
        again.update(status for status in Status if not status.searchable and status is not Status.EMPTY)
    if passwords:
        again.add(Status.ENCRYPTED)
    if chosen["ocr"] == "always":
        again.update((Status.NEEDS_OCR, Status.PARTIAL))
    return AddOptions(
        reading=ReadOptions.from_settings(settings, passwords),
        again=frozenset(again),
        wait=-1.0 if chosen["wait"] else 0.0,
        sample=chosen.get("sample") or 0,
    )


def _passwords_in(path: Path | None) -> tuple[str, ...]:
    if path is None:
        return ()
    try:
        return tuple(line for line in path.read_text(encoding="utf-8").splitlines() if line)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The password file {path} cannot be read: {error}.") from error
