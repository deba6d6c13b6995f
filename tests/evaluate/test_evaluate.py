from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from indexer.cli import longdoc
from indexer.datatypes import Mode, Span
from indexer.errors import EvaluationError
from indexer.evaluate import (
    EvaluateOptions,
    by_kind,
    compare_evaluations,
    evaluate_folder,
    evaluate_own,
    load_evaluation,
    read_collection,
    save_evaluation,
)
from indexer.evaluate.figures import first_right, ndcg, paired_bootstrap, recall
from indexer.evaluate.run import covers
from indexer.settings import Settings
from tests.fakes import FakeEncoder
from tests.search.shelf import fill, new_library

TEXTS = {
    "a": "The supplier pays a penalty for late delivery.\r\n" + "Boxes are packed with care. " * 30,
    "b": "The pump is greased every month by the mechanic. " + "Handles are turned slowly. " * 30,
    "c": "供应商迟交货物时须支付违约金。" + "货物装在木箱里。" * 30,
}
QUERIES = {"1": "penalty for late delivery", "2": "when is the pump greased", "3": "违约金", "4": "nobody judged this"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "set"
    (root / "qrels").mkdir(parents=True)
    write(root / "corpus.jsonl", [{"_id": name, "title": name, "text": text} for name, text in TEXTS.items()])
    write(root / "queries.jsonl", [{"_id": name, "text": text} for name, text in QUERIES.items()])
    (root / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t1\n2\tb\t2\n2\ta\t1\n3\tc\t1\n")
    start = TEXTS["a"].index("late")
    write(root / "spans.jsonl", [{"query-id": "1", "corpus-id": "a", "start": start, "end": start + 13, "answer": ""}])
    return root


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(library=tmp_path / "library", cache=tmp_path / "cache", encoder="fake", chunk_tokens=64)


def test_figures_of_a_perfect_and_of_a_useless_order() -> None:
    grades = {"a": 2, "b": 1}
    assert ndcg(["a", "b"], grades) == pytest.approx(1)
    assert ndcg(["b", "a"], grades) == pytest.approx((1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3)))
    assert ndcg(["x", "y"], grades) == 0
    assert recall(["x", "a"], grades) == 0.5
    assert first_right(["x", "a"], grades) == 2
    assert first_right(["x"], grades) is None


def test_a_collection_is_measured_with_every_figure(folder: Path, settings: Settings) -> None:
    encoder = FakeEncoder(256)
    (evaluation,) = evaluate_folder(folder, settings, encoder=encoder)
    assert evaluation.documents == 3
    assert [result.id for result in evaluation.results] == ["1", "2", "3"]
    assert [result.first_right for result in evaluation.results] == [1, 1, 1]
    assert evaluation.figures["hit@1"] == 1
    assert evaluation.figures["chunk_recall@5"] == 1
    assert evaluation.figures["chunk_mrr@10"] == 1
    assert evaluation.figures["answers_in_1024"] == 1
    assert evaluation.results[1].chunk_rank is None
    assert evaluation.tokens > 100


def test_a_second_evaluation_encodes_nothing(folder: Path, settings: Settings) -> None:
    evaluate_folder(folder, settings, encoder=FakeEncoder(256))
    again = FakeEncoder(256)
    evaluate_folder(folder, settings, [EvaluateOptions(mode) for mode in Mode], encoder=again)
    assert not again.encoded


def test_windows_are_measured_in_a_library_of_their_own(folder: Path, settings: Settings) -> None:
    (plain,) = evaluate_folder(folder, settings, encoder=FakeEncoder())
    encoder = FakeEncoder()
    (windowed,) = evaluate_folder(folder, replace(settings, window=200), encoder=encoder)
    assert encoder.encoded
    assert (windowed.documents, windowed.tokens) == (plain.documents, plain.tokens)
    encoder.encoded.clear()
    evaluate_folder(folder, replace(settings, window=200), encoder=encoder)
    assert not encoder.encoded


def test_an_answer_counts_in_the_text_the_collection_gave(folder: Path, settings: Settings) -> None:
    write(folder / "corpus.jsonl", [{"_id": n, "text": "\u00ad\r\n" * 200 + t} for n, t in TEXTS.items()])
    start = 600 + TEXTS["a"].index("late")
    write(folder / "spans.jsonl", [{"query-id": "1", "corpus-id": "a", "start": start, "end": start + 13}])
    (evaluation,) = evaluate_folder(folder, settings, encoder=FakeEncoder(256))
    assert evaluation.results[0].chunk_rank == 1


def test_covering_an_answer_is_holding_half_of_the_shorter() -> None:
    assert covers(Span(0, 100), Span(90, 110))
    assert not covers(Span(0, 100), Span(95, 110))
    assert covers(Span(100, 200), Span(0, 1000))
    assert not covers(Span(0, 100), Span(100, 110))


def test_runs_are_kept_and_compared_query_by_query(folder: Path, settings: Settings, tmp_path: Path) -> None:
    hybrid, lexical = evaluate_folder(
        folder, settings, [EvaluateOptions(), EvaluateOptions(Mode.LEXICAL)], encoder=FakeEncoder(256)
    )
    save_evaluation(hybrid, tmp_path / "run.json")
    kept = load_evaluation(tmp_path / "run.json")
    assert kept.results == hybrid.results
    assert all(one.mean == 0 and not one.beyond_chance for one in compare_evaluations(hybrid, kept))
    worse = replace(lexical, results=tuple(replace(result, ndcg=0.0) for result in lexical.results))
    assert compare_evaluations(hybrid, worse)[0].beyond_chance
    with pytest.raises(EvaluationError, match="no run saved"):
        load_evaluation(folder / "corpus.jsonl")


def test_the_bootstrap_tells_a_difference_from_noise() -> None:
    random = np.random.default_rng(1)
    base = random.random(300)
    better = paired_bootstrap("x", base + 0.05 + 0.1 * random.normal(size=300), base)
    assert better.beyond_chance
    assert better.p < 0.01
    noise = paired_bootstrap("x", base + 0.1 * random.normal(size=300), base)
    assert noise.low < noise.mean < noise.high
    assert noise.p > 0.01


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("corpus.jsonl", "not json", "corpus.jsonl, line 1"),
        ("corpus.jsonl", '{"_id": "a"}', "_id and text"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n1\ta\n", "line 2"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nx\ty\t1\n", "no query and document"),
        ("spans.jsonl", '{"query-id": "1", "corpus-id": "a", "start": 5, "end": 2}', "place of the answer"),
    ],
)
def test_a_broken_collection_is_named(folder: Path, name: str, content: str, message: str) -> None:
    (folder / name).write_text(content)
    with pytest.raises(EvaluationError, match=message):
        read_collection(folder)


def test_missing_parts_are_named(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(EvaluationError, match="no folder"):
        read_collection(tmp_path / "nowhere")
    (folder / "queries.jsonl").unlink()
    with pytest.raises(EvaluationError, match=r"queries\.jsonl"):
        read_collection(folder)


def test_the_verb_prints_the_contract(folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = FakeEncoder(256)
    monkeypatch.setattr("indexer.encode.describe_encoder", lambda *_: encoder)
    monkeypatch.setattr("indexer.encode.describe_encoder", lambda *_: encoder)
    monkeypatch.setattr("indexer.encode.load_encoder", lambda *_, **__: encoder)
    monkeypatch.setenv("LONGDOC_CACHE", str(settings.cache))
    result = CliRunner().invoke(longdoc, ["evaluate", str(folder), "--json", "--against", "lexical", "--per-query"])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    for name in ("documents", "queries", "ndcg@10", "hit@1", "recall@10", "mrr@10", "chunk_recall@5", "chunk_mrr@10"):
        assert name in printed
    assert {"tokens", "seconds"} <= printed.keys()
    assert printed["queries"] == len(printed["results"]) == 3
    assert printed["comparisons"][0]["mode"] == "lexical"
    plain = CliRunner().invoke(longdoc, ["evaluate", str(folder), "--against", "dense", "--per-query"])
    assert "ndcg@10" in plain.stdout
    assert "bootstrap" in plain.stdout


def test_a_library_is_measured_on_its_own_documents(tmp_path: Path, settings: Settings) -> None:
    english = "\n".join(
        f"Report {number} tells of harbour {number} and its cranes that were painted in colour {number}. "
        f"In year {1900 + number} a storm took away the roof of shed {number}. Nobody was hurt in that night. "
        f"The insurers of shed {number} paid within {number} weeks after a long exchange of letters."
        for number in range(12)
    )
    chinese = "".join(
        f"第{number}号报告讲到第{number}号码头的起重机和它们的颜色。那一年的风暴掀走了第{number}号仓库的屋顶。"
        f"当晚没有人受伤。保险公司在{number}周之后付了第{number}号仓库的赔款。"
        for number in range(12)
    )
    with new_library(tmp_path / "own") as library:
        fill(library, {"/en.txt": english, "/zh.txt": chinese, "/short.txt": "Too short."})
        before = library.store.text(1)
        encoded = len(library.encoder.encoded)  # type: ignore[attr-defined]  # the fake encoder counts
        ours, lexical = evaluate_own(
            library, settings, [EvaluateOptions(queries=10), EvaluateOptions(Mode.LEXICAL, queries=10)]
        )
        assert library.store.text(1) == before
        assert len(library.encoder.encoded) - encoded < 30  # type: ignore[attr-defined]  # only what was changed
    parts = by_kind(ours)
    assert [evaluation.name for evaluation in parts.values()] == ["own documents, held-out", "own documents, planted"]
    assert sum(len(evaluation.results) for evaluation in parts.values()) == len(ours.results) == 10
    assert parts["planted"].figures["recall@10"] == 1
    assert len(compare_evaluations(parts["planted"], by_kind(lexical)["planted"])) == 4
    assert not list(settings.cache.glob("own-*"))


def test_ones_own_documents_are_compared_to_other_modes_and_kept_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = FakeEncoder(256)
    monkeypatch.setattr("indexer.encode.load_encoder", lambda *_, **__: encoder)
    monkeypatch.setenv("LONGDOC_CACHE", str(tmp_path / "cache"))
    text = "".join(
        f"Report {number} tells of harbour {number} and its cranes that were painted in colour {number}. "
        f"In year {1900 + number} a storm took away the roof of shed {number}. Nobody was hurt in that night. "
        for number in range(12)
    )
    with new_library(tmp_path / "own", encoder) as library:
        fill(library, {"/en.txt": text, "/other.txt": text.replace("storm", "gale").replace("Report", "Letter")})
    asked = ["--library", str(tmp_path / "own"), "evaluate", "--from-library", "--queries", "6"]
    kept = str(tmp_path / "kept.json")
    printed = CliRunner().invoke(longdoc, [*asked, "--json", "--against", "lexical", "--save", kept])
    first, second = json.loads(printed.stdout)["evaluations"]
    assert [one["name"].split(", ")[1] for one in (first, second)] == ["held-out", "planted"]
    for one in (first, second):
        assert one["comparisons"][0]["mode"] == "lexical"
        assert one["comparisons"][0]["queries"] == one["queries"] == 3
    plain = CliRunner().invoke(longdoc, [*asked, "--against", kept])
    assert plain.stdout.count("bootstrap") == 2
    assert plain.stdout.count("(may be chance)") == 8
    assert "Made-up facts" in plain.stdout
    changed = json.loads(Path(kept).read_text(encoding="utf-8"))
    for row in changed["results"]:
        row["query"] += " once more"
    Path(kept).write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(EvaluationError, match="no query in common"):
        CliRunner().invoke(longdoc, [*asked, "--against", kept], catch_exceptions=False)


def test_a_library_without_sentences_is_no_test(tmp_path: Path, settings: Settings) -> None:
    with new_library(tmp_path / "own") as library:
        fill(library, {"/short.txt": "Too short."})
        with pytest.raises(EvaluationError, match="enough sentences"):
            evaluate_own(library, settings)
