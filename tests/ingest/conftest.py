from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.datatypes import RunReport
from indexer.ingest import AddOptions, Listener, add
from indexer.library import Library
from indexer.parse import ReadOptions
from indexer.settings import Settings
from tests.fakes import FakeEncoder

OPTIONS = AddOptions(ReadOptions(sandbox=False))


@pytest.fixture
def encoder() -> FakeEncoder:
    return FakeEncoder()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    return path


@pytest.fixture
def library(tmp_path: Path, encoder: FakeEncoder) -> Iterator[Library]:
    settings = Settings(library=tmp_path / "library", cache=tmp_path / "cache")
    with Library.open(settings.library, settings, create=True, write=True, encoder=encoder) as opened:
        yield opened


@pytest.fixture
def run(library: Library, folder: Path) -> Callable[..., RunReport]:
    """Add the folder (or other paths) and return the report."""

    def add_folder(*paths: Path, listener: Listener | None = None, **changes: object) -> RunReport:
        options = replace(OPTIONS, **changes)  # type: ignore[arg-type]  # tests name the fields
        return add(library, [str(path) for path in paths or (folder,)], options, listener)

    return add_folder


def prose(seed: int, paragraphs: int) -> str:
    """Text of a few hundred words of its own, in sentences and paragraphs."""
    generator = random.Random(seed)
    vocabulary = [f"{'bcdfgklmnprst'[number % 13]}{'aeiou'[number % 5]}{number}" for number in range(700)]
    return "\n\n".join(
        " ".join(
            " ".join(generator.choices(vocabulary, k=generator.randint(5, 20))).capitalize() + "."
            for _ in range(generator.randint(2, 6))
        )
        for _ in range(paragraphs)
    )
