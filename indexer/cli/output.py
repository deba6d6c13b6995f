"""What every verb prints with: one JSON document on stdout, sentences on stderr, the exit codes of the contract."""

from __future__ import annotations

import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
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


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def shown(text: str) -> str:
    """Text as a terminal may show it: what would move the cursor, hide or turn text around is shown escaped."""
    return printable(_CONTROL.sub(lambda mark: mark.group().encode("unicode_escape").decode("ascii"), text))


def near(path: str) -> str:
    """A path as seen from the current directory, when it lies below it."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns on stdout, wide characters counting two; on a terminal the last column is cut to fit."""
    cells = [[shown(cell).replace("\n", " ") for cell in row] for row in (header, *rows)]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)][:-1]
    room = max(shutil.get_terminal_size((100, 24)).columns - sum(widths) - 2 * len(widths), 20)
    fit = sys.stdout.isatty()
    for row in cells:
        padded = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=False)]
        click.echo("  ".join([*padded, clipped(row[-1], room) if fit else row[-1]]).rstrip())


def clipped(text: str, room: int) -> str:
    """The text, or its beginning and its end around an ellipsis, in at most ``room`` terminal cells."""
    if _width(text) <= room:
        return text
    head = _fitting(text, (room - 1) // 2)
    return f"{head}…{_fitting(text[::-1], room - 1 - _width(head))[::-1]}"


def _fitting(text: str, room: int) -> str:
    taken = 0
    for place, character in enumerate(text):
        taken += _width(character)
        if taken > room:
            return text[:place]
    return text


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def print_json(value: Any) -> None:
    """Print exactly one JSON document on stdout."""
    click.echo(printable(json.dumps(value, ensure_ascii=False, indent=2)))


def say(sentence: str, *, quiet: bool = False) -> None:
    """Print a sentence for the person on stderr, unless they asked for quiet."""
    if not quiet:
        click.echo(shown(sentence), err=True)
