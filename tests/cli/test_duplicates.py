from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Longdoc
from tests.duplicates.memory import prose


@pytest.fixture
def folder(longdoc: Longdoc, tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    contract = prose(1, 30)
    (path / "contract_v1.txt").write_text(contract + "The rent is 900 euro a month. " + prose(2, 10))
    (path / "contract_v2.txt").write_text(contract + "The rent is 950 euro a month. " + prose(2, 10))
    (path / "copy.txt").write_text(contract + "The rent is 900 euro a month. " + prose(2, 10))
    (path / "other.txt").write_text(prose(9, 30))
    assert longdoc("add", path).code == 0
    return path


def test_groups_have_relations_figures_and_differences(longdoc: Longdoc, folder: Path) -> None:
    answer = longdoc("duplicates", "--json").json
    identical, version = answer["groups"]
    assert identical["relation"] == "identical"
    assert {Path(p).name for d in identical["documents"] for p in d["paths"]} == {"contract_v1.txt", "copy.txt"}
    assert version["relation"] == "version"
    assert 0.9 < version["similarity"] < 1
    (pair,) = version["pairs"]
    assert pair["share_a_in_b"] > 0.95
    (differences,) = version["differences"]
    (difference,) = differences["shown"]
    assert difference["facts"] == [{"kind": "number", "before": ["900 euro"], "after": ["950 euro"]}]
    assert "highest version number (2)" in version["keep"]["reason"]
    assert answer["documents"] == 3


def test_people_read_what_differs(longdoc: Longdoc, folder: Path) -> None:
    outcome = longdoc("duplicates")
    assert "number 900 euro -> 950 euro" in outcome.out
    assert "keep 2" in outcome.out or "keep 1" in outcome.out
    assert "2 groups among 3 documents" in outcome.err


def test_a_higher_threshold_leaves_versions_out(longdoc: Longdoc, folder: Path) -> None:
    groups = longdoc("duplicates", "--threshold", "1", "--json").json["groups"]
    assert [group["relation"] for group in groups] == ["identical"]


def test_a_csv_report_lists_every_file(longdoc: Longdoc, folder: Path, tmp_path: Path) -> None:
    assert longdoc("duplicates", "--csv", tmp_path / "report.csv").code == 0
    table = (tmp_path / "report.csv").read_text(encoding="utf-8-sig").splitlines()
    assert len(table) == 1 + 2 + 3
    failed = longdoc("duplicates", "--csv", tmp_path / "missing" / "report.csv")
    assert (failed.code, "cannot be written" in failed.err) == (1, True)


def test_another_program_can_follow_by_log_records(longdoc: Longdoc, folder: Path) -> None:
    outcome = longdoc("--log-json", "duplicates", "--json")
    records = [json.loads(line) for line in outcome.err.splitlines()]
    assert {record["event"] for record in records} == {"progress", "done"}
    moments = [record for record in records if record["event"] == "progress"]
    assert [moment["stage"] for moment in moments[:2]] == ["Reading", "Comparing"]
    assert all(0 <= moment["done"] <= moment["total"] for moment in moments)
    assert (records[-1]["event"], records[-1]["groups"], records[-1]["documents"]) == ("done", 2, 3)
    assert outcome.json["documents"] == 3


def test_a_shared_chapter_is_shown_with_its_place_in_both(longdoc: Longdoc, tmp_path: Path) -> None:
    chapter = "\n\n# Warranty\n\n" + prose(7, 30)
    (tmp_path / "a.md").write_text("# Scope\n\n" + prose(1, 90) + chapter)
    (tmp_path / "b.md").write_text("# Aim\n\n" + prose(2, 120) + chapter + "\n\n# End\n\n" + prose(3, 60))
    assert longdoc("add", tmp_path / "a.md", tmp_path / "b.md").code == 0
    (group,) = longdoc("duplicates", "--json").json["groups"]
    (pair,) = group["pairs"]
    (section,) = pair["sections"]
    assert (group["relation"], section["a"]["heading"], section["b"]["heading"]) == ("section", "Warranty", "Warranty")
    assert section["a"]["first_chunk"] < section["b"]["first_chunk"]
    assert "(Warranty)" in longdoc("duplicates").out
