"""The promises around the code: pinned versions, import contracts, the Makefile, the sample documents' script."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


def load_script(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pins = load_script(ROOT / ".ci" / "pins.py")
audit = load_script(ROOT / ".ci" / "audit.py")


def test_every_run_and_test_dependency_is_pinned_at_the_installed_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = pins.needed([*project["dependencies"], *project["optional-dependencies"]["test"]])
    constraints = pins.pinned(ROOT / "constraints.txt")
    assert {name: constraints.get(name) for name in required} == required
    assert constraints["torch"] == "2.13.0"


def test_a_missing_a_stray_and_a_different_pin_are_named() -> None:
    found = pins.differences({"a": "1", "b": "2"}, {"b": "3", "c": "4"})
    assert found == ["a==1 is needed and not pinned", "c==4 is pinned and not needed", "b: pinned 3, installed 2"]


def stand_in(tmp_path: Path, answer: str) -> str:
    tool = tmp_path / "pip-audit"
    tool.write_text(f"#!/bin/sh\n{answer}\n")
    tool.chmod(0o700)
    return str(tool)


def test_the_audit_fails_for_a_known_vulnerability_and_names_it(tmp_path: Path) -> None:
    known = '{"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1"}]}, {"name": "b", "version": "2", "vulns": []}'
    tool = stand_in(tmp_path, f"echo '{{\"dependencies\": [{known}]}}'; exit 1")
    code, lines = audit.verdict(audit.report(tool))
    assert code == 1
    assert lines == ["a 1: PYSEC-1", "Audited: 2 dependencies, 1 with a known vulnerability."]


@pytest.mark.parametrize(
    "answer",
    [
        "echo 'no route to host' >&2; exit 1",
        'echo \'{"dependencies": [{"name": "a", "skip_reason": "not found"}]}\'',
        None,
    ],
)
def test_an_audit_that_could_ask_nobody_says_so_and_stops_nothing(tmp_path: Path, answer: str | None) -> None:
    tool = str(tmp_path / "missing") if answer is None else stand_in(tmp_path, answer)
    code, lines = audit.verdict(audit.report(tool))
    assert code == 0
    assert len(lines) == 1
    assert lines[0].startswith("NOT AUDITED: ")


def test_everything_the_code_imports_is_a_declared_dependency() -> None:
    """A package that is only there because something else brought it is missing on the next machine."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    texts = [
        *project["dependencies"],
        *(text for name in optional.keys() - {"test", "lint"} for text in optional[name]),
    ]
    declared = {pins.canonical(re.split(r"[^\w.-]", text)[0]) for text in texts}
    homes = packages_distributions()
    undeclared = set()
    for path in [*(ROOT / "indexer").rglob("*.py"), *(ROOT / "app").rglob("*.py")]:
        for name in imported_packages(path) - sys.stdlib_module_names - {"indexer", "app", "_typeshed"}:
            if not {pins.canonical(home) for home in homes.get(name, [name])} & declared:
                undeclared.add(f"{path.relative_to(ROOT)}: {name}")
    assert not undeclared


def imported_packages(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command; lint_imports_command()",
    ]
    environment = os.environ | {"PYTHONPATH": str(tree)}
    return subprocess.run(
        [*command, "--no-cache"], cwd=tree, env=environment, capture_output=True, text=True, timeout=120
    )


def test_the_import_contracts_hold() -> None:
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("indexer/settings.py", "import streamlit", "The engine does not know Streamlit"),
        ("indexer/settings.py", "import torch.nn", "Only indexer.encode knows torch"),
        ("indexer/settings.py", "import indexer.cli", "A room knows only the rooms below it"),
        ("app/__init__.py", "import indexer.settings", "only the names the engine exports"),
        ("app/__init__.py", "import sqlite3", "Only indexer.store knows SQLite"),
    ],
)
def test_an_import_astray_breaks_its_contract(tmp_path: Path, module: str, line: str, contract: str) -> None:
    for package in ("indexer", "app"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / module).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    result = lint_imports(tmp_path)
    assert result.returncode != 0
    broken = [text for text in result.stdout.splitlines() if " BROKEN" in text]
    assert any(contract in text for text in broken), result.stdout + result.stderr


def test_make_says_what_there_is_to_make() -> None:
    result = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    targets = [line.split()[1] for line in result.stdout.splitlines()]
    assert targets == ["help", "demo", "test", "lint", "audit", "bench", "docs", "clean"]


def test_make_without_python_says_what_is_missing(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    result = subprocess.run(
        ["make", "demo", "PYTHON="], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode != 0
    assert "longdoc needs Python 3.11 or newer" in result.stderr
