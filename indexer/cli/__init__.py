"""The command line: a group of verbs, each loaded from its module only when it is called."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import click

from indexer.cli.output import ExitCode, say
from indexer.errors import LongdocError
from indexer.settings import Settings, load_settings


@dataclass(frozen=True, slots=True)
class Verb:
    """Where a verb lives and the line that describes it in the overview, so that help loads no verb."""

    module: str
    summary: str


VERBS: dict[str, Verb] = {
    "add": Verb("adding", "Add files and folders."),
    "sync": Verb("adding", "Look through every added folder again."),
    "search": Verb("search", "Find what you mean, by meaning and by words."),
    "list": Verb("documents", "List the documents, with what could be read of each."),
    "show": Verb("documents", "Show one document and what of it could not be read."),
    "remove": Verb("documents", "Remove documents from the library (never from your disk)."),
    "tag": Verb("documents", "Give documents a tag, or take it away."),
    "watch": Verb("adding", "Follow the added folders: changes come in as they happen."),
    "ui": Verb("serve", "Serve the search and reading pages for the browser."),
    "duplicates": Verb("duplicates", "Find what is nearly the same, and what differs."),
    "clusters": Verb("clusters", "Find what the collection is about, and draw its map."),
    "classify": Verb("clusters", "Tag documents as the ones you have labelled."),
    "evaluate": Verb("evaluate", "Measure how well documents are found, on a judged collection or on your own."),
    "verify": Verb("checking", "Check that nothing is lost or damaged, and repair what can be."),
    "backup": Verb("maintain", "Write the library to one file."),
    "restore": Verb("maintain", "Bring the library back from a backup."),
    "export": Verb("maintain", "Write texts and embeddings for other programs."),
    "import": Verb("maintain", "Take in what was exported."),
    "reindex": Verb("maintain", "Build the library anew with another encoder or other chunking."),
    "prune": Verb("maintain", "Drop what nothing needs any more, and shrink the file."),
    "probe": Verb("probing", "Measure how cost grows with length, and where facts get lost."),
    "doctor": Verb("machine", "Say what is right and wrong with this machine, or with one document."),
}


@dataclass(frozen=True, slots=True)
class Context:
    """What the global options say; every verb gets it as ``context.obj``."""

    settings: Settings
    quiet: bool
    log_json: bool

    @property
    def library_path(self) -> Path:
        return self.settings.library


class VerbGroup(click.Group):
    """A click group that imports a verb's module when the verb is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"indexer.cli.{VERBS[cmd_name].module}")
        command = getattr(module, cmd_name.replace("-", "_") + "_command")
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl([(name, verb.summary) for name, verb in VERBS.items()])


@click.group(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "--library",
    type=click.Path(path_type=Path),
    help="The library's directory (else LONGDOC_LIBRARY, else your data directory).",
)
@click.option(
    "--encoder",
    metavar="NAME|DIR",
    help="The encoder of a new library and of what is measured: e5-small, minilm or a model's folder.",
)
@click.option("--quiet", is_flag=True, help="Print results and errors only.")
@click.option("--log-json", is_flag=True, help="Write one JSON record a line on stderr instead of sentences.")
@click.version_option(package_name="longdoc", prog_name="longdoc")
@click.pass_context
def longdoc(context: click.Context, library: Path | None, encoder: str | None, quiet: bool, log_json: bool) -> None:
    """Search your own long documents by meaning, on this machine alone.

    Start with `longdoc add FOLDER`, then `longdoc search "what you want to know"`, or `longdoc ui` for the browser.
    """
    settings = load_settings()
    if library is not None:
        settings = replace(settings, library=library)
    if encoder is not None:
        settings = replace(settings, encoder=encoder)
    context.obj = Context(settings, quiet, log_json)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; what goes wrong is one sentence on stderr."""
    try:
        result = longdoc.main(args=arguments, prog_name="longdoc", standalone_mode=False)
    except click.exceptions.Abort:
        say("Stopped.")
        return ExitCode.FAILED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except LongdocError as error:
        say(f"longdoc: {error}")
        return ExitCode.FAILED
    except BrokenPipeError:
        # The reader of our output went away (`longdoc list | head`): nothing to report, nowhere to report it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    return result if isinstance(result, int) else ExitCode.DONE
