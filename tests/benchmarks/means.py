"""Where queries of a language lie: general questions, the library's own sentences, or half way between them.

    python -m tests.benchmarks.means [--sets covidqa,multifieldqa_zh]

nDCG@10 of searching by meaning alone, with the queries' mean taken from the one or the other. "documents" takes the
documents' mean away from queries too, "none" centres nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

import numpy as np

from indexer.centring import LanguageMeans
from indexer.datatypes import Vector
from indexer.evaluate import Collection, read_collection
from indexer.evaluate.building import collection_id, collection_library
from indexer.evaluate.figures import ndcg
from indexer.library import Library
from indexer.search.languages import query_language
from indexer.search.means import question_means, sentence_means
from indexer.settings import load_settings
from tests.benchmarks.quality import SETS, folder_of_sets

Means = Mapping[str, Vector]


def variants(library: Library) -> dict[str, LanguageMeans]:
    """The means a library may be centred by."""
    stored = library.store.language_means()
    documents: Means = {name: mean.mean for name, mean in stored.items()}
    counts = {name: mean.chunk_count for name, mean in stored.items()}
    questions = question_means(library, {*stored, "en", "zh"})
    sentences = sentence_means(library, set(stored))
    own = {**questions, **sentences}
    return {
        "none": LanguageMeans.none(library.store.recipe.dimension),
        "documents": LanguageMeans.build(documents, counts, documents, documents),
        "questions": LanguageMeans.build(documents, counts, questions, questions),
        "sentences": LanguageMeans.build(documents, counts, own, own),
        "half way": LanguageMeans.build(documents, counts, questions, sentences),
    }


def measure(library: Library, collection: Collection) -> dict[str, float]:
    """nDCG@10 with each of the means."""
    ids = np.sort(library.store.chunk_ids())
    owners = library.store.chunk_owner(ids)
    names = {file.document_id: collection_id(file.path) for file in library.store.files()}
    raw, languages = library.store.embeddings_and_languages(ids)
    present = {name: mean.chunk_count for name, mean in library.store.language_means().items()}
    texts = [collection.queries[query] for query in collection.judged]
    asked = library.encoder.encode_query(texts)
    found: dict[str, float] = {}
    for label, means in variants(library).items():
        rows = means.centre_documents(raw, languages)
        values = []
        for query, text, vector in zip(collection.judged, texts, asked, strict=True):
            (centred,) = means.centre_queries(vector[None, :], query_language(text, present))
            ranked = owners[np.argsort(-(rows @ centred), kind="stable")].tolist()
            values.append(ndcg([names[owner] for owner in dict.fromkeys(ranked)][:10], collection.grades[query]))
        found[label] = float(np.mean(values))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS))
    arguments = parser.parse_args()
    settings = load_settings()
    for place, name in enumerate(arguments.sets.split(",")):
        if not (folder_of_sets() / name).is_dir():
            continue
        collection = read_collection(folder_of_sets() / name)
        with collection_library(collection, settings) as library:
            found = measure(library, collection)
        if not place:
            print(f"| set | {' | '.join(found)} |\n|---|{'---|' * len(found)}")
        print(f"| {name} | {' | '.join(f'{value:.3f}' for value in found.values())} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
