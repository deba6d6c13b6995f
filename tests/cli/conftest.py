from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from indexer.cli import main
from tests.fakes import FakeEncoder


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.out, f"nothing was printed; exit code {self.code}: {self.err}"
        return json.loads(self.out)


Longdoc = Callable[..., Outcome]


@pytest.fixture
def longdoc(real_longdoc: Longdoc, monkeypatch: pytest.MonkeyPatch) -> Longdoc:
    """The command line over a library of its own, with the fake encoder."""
    encoder = FakeEncoder()
    monkeypatch.setattr("indexer.encode.load_encoder", lambda *_, **__: encoder)
    monkeypatch.setattr("indexer.encode.describe_encoder", lambda *_, **__: encoder)
    return real_longdoc


@pytest.fixture
def real_longdoc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Longdoc:
    """The command line over a library of its own, with whatever encoder is named."""
    monkeypatch.setenv("LONGDOC_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setenv("LONGDOC_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("LONGDOC_CACHE", str(tmp_path / "cache"))

    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Outcome(int(code), printed.out, printed.err)

    return run
