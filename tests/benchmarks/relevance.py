"""How often "nothing relevant was found" is right: each collection is asked its own questions and other collections'.

    python -m tests.benchmarks.relevance [--sets covidqa,multifieldqa_zh] [--own 50] [--others 25]

A collection's own questions are answered in it, those of another have nothing to do with it. The table gives, for each
language of the questions, how many of either were taken for relevant.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Iterator

from indexer.evaluate import Collection, read_collection
from indexer.evaluate.building import collection_library
from indexer.evaluate.remembering import RememberingEncoder
from indexer.library import Library
from indexer.search import SearchOptions, parse_query, search_library
from indexer.search.languages import query_language
from indexer.settings import load_settings
from tests.benchmarks.quality import SETS, folder_of_sets

RELATED = (frozenset({"xquad_both", "xquad_en_to_zh", "xquad_zh_to_en"}),)
"""Collections that share documents: none is asked the others' questions."""

Asked = dict[tuple[str, bool], list[bool]]
"""Whether each question was taken for relevant, by its language and whether it is the collection's own."""


def chosen(collection: Collection, count: int) -> list[str]:
    """Some of a collection's judged questions, the same ones each time."""
    judged = collection.judged
    return [collection.queries[query] for query in random.Random(0).sample(judged, min(count, len(judged)))]


def questions(name: str, collections: dict[str, Collection], own: int, others: int) -> Iterator[tuple[str, bool]]:
    """Questions for one collection, each with whether it is its own."""
    for other, collection in collections.items():
        if other == name:
            yield from ((text, True) for text in chosen(collection, own))
        elif not any({name, other} <= related for related in RELATED):
            yield from ((text, False) for text in chosen(collection, others))


def ask(library: Library, asked: Iterator[tuple[str, bool]]) -> Asked:
    found: Asked = defaultdict(list)
    for text, is_own in asked:
        language = query_language(parse_query(text).text, {})
        found[language, is_own].append(search_library(library, text, SearchOptions(k=1)).relevant)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--own", type=int, default=50)
    parser.add_argument("--others", type=int, default=25)
    arguments = parser.parse_args()
    settings = load_settings()
    names = [name for name in arguments.sets.split(",") if (folder_of_sets() / name).is_dir()]
    collections = {name: read_collection(folder_of_sets() / name) for name in names}
    encoder = RememberingEncoder(settings, settings.cache / "evaluate" / "relevance.npz")
    most = max(arguments.own, arguments.others)
    encoder.remember([text for one in collections.values() for text in chosen(one, most)])
    print("| collection | asked in | its own questions: found relevant | questions of others: found relevant |")
    print("|---|---|---|---|", flush=True)
    for name, collection in collections.items():
        with collection_library(collection, settings, encoder=encoder) as library:
            found = ask(library, questions(name, collections, arguments.own, arguments.others))
        for language in sorted({language for language, _ in found}):
            told = (found[language, is_own] for is_own in (True, False))
            cells = (f"{sum(some)} of {len(some)}" if some else "-" for some in told)
            print(f"| {name} | {language} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
