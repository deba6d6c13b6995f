"""Keeping the language means of a library: estimated after a run of ``add``, again whenever a language has doubled."""

from __future__ import annotations

import json
import random
from functools import lru_cache
from importlib.resources import files

import numpy as np

from indexer.centring import LanguageMeans
from indexer.datatypes import Vector
from indexer.lexical import terms
from indexer.library import Library
from indexer.search.relevance import calibrate, is_calibrated
from indexer.sentences import sentences

ENOUGH = 8192
"""Chunks of a language after which its mean no longer moves: it is not estimated again."""

QUESTIONS_KEY = "question_means"
_SENTENCES = 32
_ALWAYS = {"en", "zh"}
_LONGEST_SENTENCE = 200


@lru_cache(maxsize=1)
def questions() -> dict[str, list[str]]:
    """General questions in several languages, by language code: what queries are like before any was asked."""
    text = files("indexer.search").joinpath("questions.json").read_text(encoding="utf-8")
    return {language: list(listed) for language, listed in json.loads(text).items()}


def refresh_means(library: Library, *, force: bool = False) -> bool:
    """Estimate the language means anew when that is due (or asked for); True when they have changed.

    What counts as nothing relevant is measured anew with them. Needs the writer lock. Costs a look at the counts when
    nothing is due; else it encodes some hundred short texts.
    """
    current = library.means
    stored = library.store.language_means()
    if not stored:
        return False
    if not (force or _is_due(current, {name: mean.chunk_count for name, mean in stored.items()})):
        if not is_calibrated(library):  # a library of an older longdoc
            calibrate(library)
        return False
    means = LanguageMeans.build(
        {name: mean.mean for name, mean in stored.items()},
        {name: mean.chunk_count for name, mean in stored.items()},
        question_means(library, set(stored) | _ALWAYS),
        sentence_means(library, set(stored)),
    )
    library.keep_means(means)
    calibrate(library)
    return means.version != current.version


def _is_due(current: LanguageMeans, counts: dict[str, int]) -> bool:
    if current.version == "none":
        return True
    for language, count in counts.items():
        then = current.count(language)
        if then < ENOUGH and (count >= 2 * max(then, 1) or 2 * count < then):
            return True
    return False


def question_means(library: Library, languages: set[str]) -> dict[str, Vector]:
    """The mean of general questions in each of the languages there are some for; encoded once for each encoder."""
    fingerprint = library.store.recipe.fingerprint
    kept = library.store.meta_get(QUESTIONS_KEY)
    means: dict[str, list[float]] = kept["means"] if kept and kept["fingerprint"] == fingerprint else {}
    if missing := sorted((languages & questions().keys()) - means.keys()):
        for language in missing:
            rows = library.encoder.encode_query(questions()[language])
            means[language] = rows.mean(axis=0).astype(float).round(6).tolist()
        library.store.meta_set(QUESTIONS_KEY, {"fingerprint": fingerprint, "means": means})
    return {language: np.array(mean, dtype=np.float32) for language, mean in means.items()}


def sentence_means(library: Library, languages: set[str]) -> dict[str, Vector]:
    """The mean of the library's own sentences under the query prompt, of each language that has enough of them."""
    ids, _ = library.store.sample_embeddings(_SENTENCES * 4 * len(languages))
    chosen: dict[str, list[str]] = {}
    chance = random.Random(0)
    for stored in library.store.chunks(ids):
        own = chosen.setdefault(stored.chunk.language, [])
        candidates = [
            text
            for sentence in sentences(stored.chunk.text)
            if len(terms(text := sentence.span.of(stored.chunk.text).strip()[:_LONGEST_SENTENCE])) >= 3
        ]
        if len(own) < _SENTENCES and candidates:
            own.append(chance.choice(candidates))
    return {
        language: np.asarray(library.encoder.encode_query(texts).mean(axis=0), dtype=np.float32)
        for language, texts in chosen.items()
        if len(texts) >= 8 and language != "und"
    }
