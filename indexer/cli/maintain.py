"""The verbs that look after a library: backup, restore, export, import, reindex, prune."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.opening import open_library
from indexer.cli.output import ExitCode, print_json, say

if TYPE_CHECKING:
    from indexer.cli import Context
    from indexer.datatypes import Recipe
    from indexer.library import Library
    from indexer.settings import Settings
    from indexer.upkeep import Gate, Reindexed

_FILE = click.Path(path_type=Path)
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
_wait = click.option("--wait", is_flag=True, help="Wait while another process writes to the library.")


@click.command("backup")
@click.argument("file", type=_FILE)
@click.option("--overwrite", is_flag=True, help="Replace the file when it is there already.")
@_json
@click.pass_obj
def backup_command(context: Context, file: Path, overwrite: bool, as_json: bool) -> ExitCode:
    """Write the whole library to one FILE, consistent even while documents are being added."""
    from indexer.upkeep import backup

    with open_library(context) as library:
        size = backup(library, file, overwrite=overwrite)
        documents = library.store.counts().documents
    if as_json:
        print_json({"file": str(file), "bytes": size, "documents": documents})
    say(f"Backed up {documents} documents to {file} ({size / 1e6:.1f} MB).", quiet=context.quiet or as_json)
    return ExitCode.DONE


@click.command("restore")
@click.argument("file", type=_FILE)
@click.option("--replace", is_flag=True, help="Put the backup in the place of the library that is there.")
@_wait
@_json
@click.pass_obj
def restore_command(context: Context, file: Path, replace: bool, wait: bool, as_json: bool) -> ExitCode:
    """Bring a library back from a backup FILE, which is checked before anything is replaced."""
    from indexer.upkeep import restore

    restore(file, context.library_path, replace=replace, wait=-1 if wait else 0)
    with open_library(context) as library:
        documents = library.store.counts().documents
    if as_json:
        print_json({"library": str(context.library_path), "documents": documents})
    say(f"Restored {documents} documents to {context.library_path}.", quiet=context.quiet or as_json)
    return ExitCode.DONE


@click.command("export")
@click.argument("folder", type=_FILE)
@_json
@click.pass_obj
def export_command(context: Context, folder: Path, as_json: bool) -> ExitCode:
    """Write texts, spans and embeddings to a new FOLDER of JSON lines and .npy files, for other programs."""
    from indexer.upkeep import export_library

    with open_library(context) as library:
        documents = export_library(library, folder)
    if as_json:
        print_json({"folder": str(folder), "documents": documents})
    say(f"Exported {documents} documents to {folder}.", quiet=context.quiet or as_json)
    return ExitCode.DONE


@click.command("import")
@click.argument("folder", type=_FILE)
@_wait
@_json
@click.pass_obj
def import_command(context: Context, folder: Path, wait: bool, as_json: bool) -> ExitCode:
    """Add the documents of an exported FOLDER to the library; nothing is read or encoded again."""
    from indexer.datatypes import Recipe
    from indexer.library import Library
    from indexer.store import Store, is_library
    from indexer.upkeep import import_library
    from indexer.upkeep.exchange import read_manifest

    manifest = read_manifest(folder)
    if not is_library(context.library_path):
        Store.create(context.library_path, Recipe(**manifest["recipe"])).close()
    with (
        Library.open(context.library_path, context.settings, write=True, any_recipe=True) as library,
        library.write_lock(-1 if wait else 0),
    ):
        done = import_library(library, folder)
        _refresh_means(library)
    if as_json:
        print_json({"added": done.added, "unchanged": done.unchanged})
    say(f"Imported {done.added} documents; {done.unchanged} were there already.", quiet=context.quiet or as_json)
    return ExitCode.DONE


@click.command("prune")
@click.option("--keep-recipes", is_flag=True, help="Keep what `reindex` replaced, to be able to go back.")
@_wait
@_json
@click.pass_obj
def prune_command(context: Context, keep_recipes: bool, wait: bool, as_json: bool) -> ExitCode:
    """Drop what nothing needs any more (embeddings of removed texts, replaced recipes) and shrink the file."""
    from indexer.upkeep import prune

    with open_library(context, write=True) as library, library.write_lock(-1 if wait else 0):
        pruned = prune(library, keep_recipes=keep_recipes)
    if as_json:
        print_json({"embeddings": pruned.embeddings, "recipes": pruned.recipes, "bytes": pruned.bytes})
    say(
        f"Dropped {pruned.embeddings} embeddings and {pruned.recipes} recipes; {pruned.bytes / 1e6:.1f} MB given back.",
        quiet=context.quiet or as_json,
    )
    return ExitCode.DONE


@click.command("reindex")
@click.option("--encoder", help="Encode with another encoder.")
@click.option("--chunk-tokens", type=click.IntRange(8), help="Cut chunks of so many tokens.")
@click.option("--chunk-minimum", type=click.IntRange(0), help="Merge chunks of fewer tokens than this.")
@click.option("--document-pooling", help="How a document gets an embedding of its own.")
@click.option(
    "--window", type=click.IntRange(0), help="Let consecutive chunks of so many tokens share one pass (0: none do)."
)
@click.option("--back", is_flag=True, help="Search again what was built before the last reindex.")
@click.option("--gate", type=_FILE, metavar="FOLDER", help="Change over only if this evaluation set fares no worse.")
@_wait
@_json
@click.pass_obj
def reindex_command(
    context: Context, /, back: bool, gate: Path | None, wait: bool, as_json: bool, **changes: Any
) -> ExitCode:
    """Build the library anew with another encoder or other chunking, beside the old, and change over in one step.

    Nothing is read from your files again. Searches are answered from the old until the new is complete; stopped, it
    goes on where it was. What it replaced is kept until `longdoc prune`, and `--back` returns to it.
    """
    from indexer.library import Library

    with (
        Library.open(context.library_path, context.settings, write=True, any_recipe=True) as library,
        library.write_lock(-1 if wait else 0),
    ):
        done = _go_back(library) if back else _reindex(context, library, changes, gate)
        _refresh_means(library)
    if as_json:
        print_json(_reindexed_json(done))
    say(_reindexed_text(done, back=back), quiet=context.quiet or as_json)
    return ExitCode.DONE


def _go_back(library: Library) -> Reindexed:
    from indexer.upkeep import Reindexed, go_back

    return Reindexed(go_back(library), 0, 0, 0)


def _reindex(context: Context, library: Library, changes: dict[str, Any], gate: Path | None) -> Reindexed:
    from indexer.encode import describe_encoder, load_encoder
    from indexer.recipes import chosen_for_recipe
    from indexer.upkeep import reindex

    asked = chosen_for_recipe(context.settings) | {name: value for name, value in changes.items() if value is not None}
    wanted = replace(library.store.recipe, **asked)
    encoder = describe_encoder(wanted.encoder, context.settings)
    recipe = replace(
        wanted,
        encoder=encoder.name,
        fingerprint=encoder.fingerprint,
        dimension=encoder.dimension,
        query_prompt=encoder.query_prompt,
        document_prompt=encoder.document_prompt,
        encoder_pooling=encoder.pooling,
    )
    loaded = load_encoder(wanted.encoder, settings=context.settings)
    judge = None if gate is None else _gate(gate, context.settings)
    return reindex(library, recipe, loaded, gate=judge, watch=_watch_documents(context))


def _gate(folder: Path, settings: Settings) -> Gate:
    """Judge a recipe by nDCG@10 of an evaluation set that is read, chunked and encoded as the recipe says."""
    from indexer.evaluate import evaluate_folder

    def judge(recipe: Recipe) -> float:
        names = ("encoder", "chunk_tokens", "chunk_minimum", "window")
        (measured,) = evaluate_folder(folder, replace(settings, **{name: getattr(recipe, name) for name in names}))
        return measured.figures["ndcg@10"] or 0.0

    return judge


def _refresh_means(library: Library) -> None:
    """The language means are those of a recipe: another one has others."""
    from indexer.search.means import refresh_means

    refresh_means(library)


def _watch_documents(context: Context) -> Callable[[int, int, str], None]:
    def watch(done: int, total: int, title: str) -> None:
        say(f"[{done + 1}/{total}] {title}", quiet=context.quiet)

    return watch


def _reindexed_text(done: Reindexed, *, back: bool) -> str:
    said = [f"Searched from now on: {done.recipe.encoder}, chunks of {done.recipe.chunk_tokens} tokens."]
    if not back:
        said.append(f"{done.documents} documents were built, {done.encoded} of {done.chunks} chunks encoded.")
    if done.before is not None and done.after is not None:
        said.append(f"The evaluation gives {done.after:.4f}; it gave {done.before:.4f} before.")
    said.append("`longdoc reindex --back` returns to what was before, `longdoc prune` drops it.")
    return " ".join(said)


def _reindexed_json(done: Reindexed) -> dict[str, Any]:
    return {
        "encoder": done.recipe.encoder,
        "chunk_tokens": done.recipe.chunk_tokens,
        "window": done.recipe.window,
        "documents": done.documents,
        "chunks": done.chunks,
        "encoded": done.encoded,
        "before": done.before,
        "after": done.after,
    }
