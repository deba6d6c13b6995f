from __future__ import annotations

import json

import numpy as np
import pytest

from indexer.centring import LanguageMeans
from indexer.datatypes import Matrix


def rows_around(mean: Matrix, count: int, seed: int) -> Matrix:
    rows = mean + 0.3 * np.random.default_rng(seed).normal(size=(count, len(mean))).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def means_of(
    samples: dict[str, Matrix], counts: dict[str, int] | None = None, **queries: dict[str, Matrix]
) -> LanguageMeans:
    counts = counts or {language: len(rows) for language, rows in samples.items()}
    averages = {side: {name: rows.mean(axis=0) for name, rows in given.items()} for side, given in queries.items()}
    return LanguageMeans.build({name: rows.mean(axis=0) for name, rows in samples.items()}, counts, **averages)


@pytest.fixture
def two_languages() -> dict[str, Matrix]:
    axes = np.eye(16, dtype=np.float32)
    return {"en": rows_around(axes[0] + axes[1], 400, 1), "zh": rows_around(axes[0] + axes[2], 400, 2)}


def test_centring_makes_two_languages_comparable(two_languages: dict[str, Matrix]) -> None:
    means = means_of(two_languages)
    english = means.centre_documents(two_languages["en"], ["en"] * 400)
    chinese = means.centre_documents(two_languages["zh"], ["zh"] * 400)
    before = float(
        (two_languages["en"] @ two_languages["en"].T).mean() - (two_languages["en"] @ two_languages["zh"].T).mean()
    )
    after = float((english @ english.T).mean() - (english @ chinese.T).mean())
    assert before > 0.15
    assert abs(after) < 0.03
    assert np.allclose(np.linalg.norm(english, axis=1), 1, atol=1e-5)


def test_a_language_with_few_chunks_leans_on_the_overall_mean(two_languages: dict[str, Matrix]) -> None:
    rare = {"en": two_languages["en"], "zh": two_languages["zh"][:1]}
    means = means_of(rare)
    centred = means.centre_documents(rare["zh"], ["zh"])
    raw_difference = rare["zh"][0] - means.documents[-1]
    assert float(centred[0] @ raw_difference) / float(np.linalg.norm(raw_difference)) > 0.95


def test_a_library_of_one_chunk_keeps_what_it_says() -> None:
    row = rows_around(np.eye(16, dtype=np.float32)[0], 1, 5)
    assert float(means_of({"en": row}).centre_documents(row, ["en"])[0] @ row[0]) > 0.99


def test_queries_are_centred_between_general_questions_and_the_librarys_sentences(
    two_languages: dict[str, Matrix],
) -> None:
    axes = np.eye(16, dtype=np.float32)
    general = {name: rows_around(axes[3] + axes[place], 200, 3) for name, place in (("en", 1), ("zh", 2), ("fr", 9))}
    sentences = {"en": rows_around(axes[3] + axes[5] + axes[1], 200, 4)}
    means = means_of(two_languages, questions=general, sentences=sentences)
    row = {name: means.queries[means.languages.index(name)] for name in means.languages}
    share = 800 / 816
    expected = (general["en"].mean(axis=0) + sentences["en"].mean(axis=0)) / 2
    assert np.allclose(row["en"], share * expected, atol=1e-5)
    shift = (sentences["en"].mean(axis=0) - general["en"].mean(axis=0)) / 2
    assert np.allclose(row["zh"], share * (general["zh"].mean(axis=0) + shift), atol=1e-5)
    assert np.allclose(row["fr"], share * (general["fr"].mean(axis=0) + shift), atol=1e-5)
    assert float(row["und"][3]) > 0.3  # a language nobody has questions for takes over the shift of the others


def test_an_unlisted_language_and_a_library_without_means_work(two_languages: dict[str, Matrix]) -> None:
    means = means_of(two_languages)
    row = two_languages["en"][:1]
    assert np.array_equal(means.centre_documents(row, ["fr"]), means.centre_documents(row, ["und"]))
    assert np.array_equal(LanguageMeans.none(16).centre_documents(row, ["en"]), row)
    assert np.array_equal(LanguageMeans.none(16).centre_queries(row, "en"), row)


def test_means_survive_json_with_their_version(two_languages: dict[str, Matrix]) -> None:
    means = means_of(two_languages)
    again = LanguageMeans.from_json(json.loads(json.dumps(means.to_json())))
    assert again.version == means.version != "none"
    assert again.count("zh") == 400
    assert again.count("fr") == 0
    row = two_languages["zh"][:3]
    assert np.array_equal(again.centre_documents(row, ["zh"] * 3), means.centre_documents(row, ["zh"] * 3))


def test_texts_of_no_known_language_are_centred_by_the_overall_mean(two_languages: dict[str, Matrix]) -> None:
    means = means_of({**two_languages, "und": two_languages["en"][:10]})
    assert means.languages == ("en", "zh", "und")
    assert means.count("und") == 810
    assert means_of({"und": two_languages["en"]}).languages == ("und",)


def test_a_regional_form_is_centred_as_its_language(two_languages: dict[str, Matrix]) -> None:
    means = means_of(two_languages)
    row = two_languages["zh"][:1]
    assert np.array_equal(means.centre_documents(row, ["zh-Hant"]), means.centre_documents(row, ["zh"]))
