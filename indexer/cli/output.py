"""What every verb prints with: one JSON document on stdout, sentences on stderr, the exit codes of the contract."""

from __future__ import annotations

import json
from enum import IntEnum
from typing import Any

import click


class ExitCode(IntEnum):
    """How a command ended."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    SOME_FAILED = 3


def printable(text: str) -> str:
    """Text that any terminal and any JSON reader accepts: undecodable bytes of a path are shown escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def print_json(value: Any) -> None:
    """Print exactly one JSON document on stdout."""
    click.echo(printable(json.dumps(value, ensure_ascii=False, indent=2)))


def say(sentence: str, *, quiet: bool = False) -> None:
    """Print a sentence for the person on stderr, unless they asked for quiet."""
    if not quiet:
        click.echo(printable(sentence), err=True)
