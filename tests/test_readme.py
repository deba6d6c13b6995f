"""What the README says of verbs and dependencies is what the code has."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from packaging.requirements import Requirement

from indexer.cli import longdoc
from indexer.settings import load_settings
from tests.test_packaging import ROOT, pins

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_generated_parts_are_current() -> None:
    command = [sys.executable, "-m", "cogapp", "--check", "README.md"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, f"run `make docs`: {result.stdout}{result.stderr}"


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    table = README.split("## What it stands on")[1].split("\n## ")[0]
    explained = {pins.canonical(name) for name in re.findall(r"^\| ([\w.-]+) \| \S", table, flags=re.MULTILINE)}
    assert {pins.canonical(Requirement(text).name) for text in project["dependencies"]} <= explained


def console_lines() -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", README, flags=re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def test_every_command_of_the_readme_exists_with_its_options() -> None:
    """Each command is parsed as it stands by the real command line, up to where it would begin to work."""
    lines = [shlex.split(line) for line in console_lines()]
    assert any(words[0] == "longdoc" for words in lines)
    for words in lines:
        if words[0] == "make":
            assert f"\n{words[1]}:" in (ROOT / "Makefile").read_text(encoding="utf-8"), words
            continue
        assert words[0] == "longdoc"
        command: click.Command = longdoc
        arguments = words[1:]
        context = click.Context(command)
        while isinstance(command, click.Group):
            found = command.get_command(context, arguments[0])
            assert found is not None, words
            command, arguments = found, arguments[1:]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word for word in arguments if word.startswith("--")} <= known, words


@pytest.mark.slow
def test_the_everyday_commands_do_what_the_readme_says(tmp_path: Path) -> None:
    contracts, manuals = tmp_path / "contracts", tmp_path / "manuals"
    for folder, sample in (
        (contracts, "contracts/lease-unit-7-gasholder-yard.txt"),
        (manuals, "reports/wartungsbericht-molkerei-allgaeu.txt"),
    ):
        folder.mkdir()
        shutil.copy(ROOT / "data" / "samples" / sample, folder)
    shutil.copy(ROOT / "data" / "samples" / "letters" / "2025-04-22-norrland-late-delivery.txt", contracts)
    lines = [line for line in console_lines() if re.match(r"longdoc (add|search) ", line)]
    assert len(lines) == 2
    environment = os.environ | {
        "HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
        "LONGDOC_LIBRARY": str(tmp_path / "library"),
    }
    environment["LONGDOC_CACHE"] = str(load_settings().cache)
    script = f'set -e\nlongdoc() {{ "{sys.executable}" -m indexer "$@"; }}\n' + "\n".join(lines)
    result = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stderr
    first = result.stdout.split(" 2. ")[0]
    assert "norrland-late-delivery" in first, result.stdout
