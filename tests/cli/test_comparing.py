from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from indexer.encode import Pace
from indexer.errors import EncoderError
from indexer.probe import precision
from tests.cli.conftest import Longdoc
from tests.fakes import FakeEncoder


@pytest.fixture
def background(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("The pump was tested on Monday. It ran well.\n" * 200, encoding="utf-8")
    (folder / "b.txt").write_text("水泵在星期一接受了测试，运行良好。\n" * 200, encoding="utf-8")
    return folder


class Paces:
    """Stands in for the processes that measure: bfloat16 is off by a little, int8 cannot be had."""

    speed = 1000.0

    def __call__(self, _encoder: str, name: str, texts: Sequence[str], **_: object) -> Pace:
        if name == "int8":
            raise EncoderError("fake in int8: there is no such thing.")
        rows = FakeEncoder().encode_documents(texts)
        if name == "bfloat16":
            rows = rows + np.float32(0.002)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        counts = FakeEncoder().count_tokens(texts)
        assert max(counts) <= 192, "what is longer than a chunk may not fit into an encoder"
        tokens = sum(counts)
        return Pace(name, tokens, tokens / self.speed, 300.0, 50.0, rows)


@pytest.fixture
def paces(monkeypatch: pytest.MonkeyPatch) -> Paces:
    made = Paces()
    compare = partial(precision.compare_precisions, measure=made)
    monkeypatch.setattr("indexer.cli.comparing.compare_precisions", compare)
    monkeypatch.setattr("indexer.probe.baseline.measure_pace", made)
    monkeypatch.setattr("indexer.cli.comparing.load_encoder", lambda *_, **__: FakeEncoder())
    return made


def test_precisions_side_by_side(longdoc: Longdoc, background: Path, paces: Paces) -> None:
    shown = longdoc("probe", "precision", "--background", background)
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert [line.split()[0] for line in lines] == ["PRECISION", "float32", "bfloat16", "int8"]
    assert "1.00000" in lines[1]
    assert "there is no such thing" in lines[3]
    assert lines[3].split()[1:7] == ["-"] * 6
    told = longdoc("probe", "precision", "--background", background, "--json").json
    assert [one["precision"] for one in told["results"]] == ["float32", "bfloat16", "int8"]
    assert told["results"][1]["cosine_least"] < told["results"][0]["cosine_least"]
    assert told["results"][0]["tokens_per_second"] == pytest.approx(1000)


def test_a_baseline_is_kept_and_compared_with(longdoc: Longdoc, background: Path, paces: Paces, tmp_path: Path) -> None:
    command = ("probe", "baseline", "--background", background)
    first = longdoc(*command, "--compare")
    assert first.code == 0
    assert "no earlier baseline" in first.err
    assert "encode, 1,000 tokens" in first.out
    kept = json.loads((tmp_path / "cache" / "probe" / "baseline.json").read_text())
    assert kept["machine"]["processor"]
    assert kept["versions"]["torch"]
    paces.speed = 100.0
    slower = longdoc(*command, "--compare")
    assert slower.code == 3
    (line,) = [line for line in slower.out.splitlines() if line.startswith("encode, 1,000 tokens")]
    assert line.endswith("worse")
    (verdict,) = [line for line in slower.out.splitlines() if line.startswith("Worse beyond the noise of both runs: ")]
    assert "encode, 1,000 tokens" in verdict  # what is really measured beside it may be slower too on a busy machine
    report = tmp_path / "before.json"
    report.write_text(json.dumps(kept))
    against = longdoc(*command, "--with", report, "--json")
    changes = {change["name"]: change["verdict"] for change in against.json["changes"]}
    assert changes["encode, 1,000 tokens"] == "worse"
    assert changes["needles, chunks, lexical"] == "within noise"


@pytest.mark.parametrize("content", ["no json", "[]", '{"figures": 3}'])
def test_a_report_that_is_none_is_refused_before_anything_is_measured(
    longdoc: Longdoc, background: Path, paces: Paces, tmp_path: Path, content: str
) -> None:
    paces.speed = 0.0  # measuring would divide by it
    report = tmp_path / "before.json"
    report.write_text(content)
    refused = longdoc("probe", "baseline", "--background", background, "--with", report)
    assert refused.code == 1
    assert str(report) in refused.err
