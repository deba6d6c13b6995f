"""What the README says of verbs and dependencies is what the code has."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib

from packaging.requirements import Requirement

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
