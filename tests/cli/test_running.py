from __future__ import annotations

import pytest

from indexer.cli.running import Bar
from indexer.ingest import Progress


def moment(tokens: int, seconds_left: float | None = None) -> Progress:
    return Progress("/files/a.txt", 1, 3, 500, 1_000, tokens, 1_234.4, 10.0, seconds_left)


def test_the_bar_tells_how_far_how_fast_and_how_long(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Bar(enabled=False)
    bar.progress(moment(0))
    assert bar._bar.desc == "1/3 documents, reading  a.txt"
    bar.progress(moment(800, 200.0))
    assert bar._bar.desc == "1/3 documents, 1,234 tokens/s, 3 min left  a.txt"
    bar.close()
    assert capsys.readouterr().err == ""  # no terminal, no bar
