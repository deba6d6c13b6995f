import ast
import importlib
from pathlib import Path

import indexer


def test_every_public_name_loads_from_where_the_table_says():
    for name in indexer.__all__:
        home = importlib.import_module(f"indexer.{indexer._HOMES[name]}")
        assert getattr(indexer, name) is getattr(home, name)


def test_type_checkers_are_told_the_same_names_from_the_same_homes():
    tree = ast.parse(Path(indexer.__file__).read_text(encoding="utf-8"))
    told = {
        alias.name: (statement.module or "").removeprefix("indexer.")
        for node in tree.body
        if isinstance(node, ast.If)
        for statement in node.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert told == indexer._HOMES


def test_the_names_are_sorted():
    assert indexer.__all__ == sorted(indexer.__all__)
