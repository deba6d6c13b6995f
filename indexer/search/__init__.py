"""The read path: query, candidates of both sides, fusion, hits."""

from indexer.search.engine import more_like, neighbours, rank, search_library
from indexer.search.highlight import excerpt
from indexer.search.options import FILTER_FIELDS, Grouping, SearchOptions
from indexer.search.query import Query, parse_query

__all__ = [
    "FILTER_FIELDS",
    "Grouping",
    "Query",
    "SearchOptions",
    "excerpt",
    "more_like",
    "neighbours",
    "parse_query",
    "rank",
    "search_library",
]
