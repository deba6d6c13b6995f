from __future__ import annotations

import pytest

from indexer.cli.output import clipped, print_table, shown


def test_clipping_keeps_both_ends_and_counts_wide_characters_as_two() -> None:
    assert clipped("short", 10) == "short"
    assert clipped("/a/long/path/to/report.pdf", 15) == "/a/long…ort.pdf"
    assert clipped("潮井泵业质量报告", 9) == "潮井…报告"


def test_a_table_lines_up_and_keeps_long_cells_whole_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("ID", "NAME"), [("1", "x" * 300), ("22", "two\nlines")])
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["ID  NAME", "1   " + "x" * 300, "22  two lines"]


def test_what_steers_a_terminal_is_shown_escaped() -> None:
    assert shown("a\x1b[31mb\u202ec\x9bd\udce9") == "a\\x1b[31mb\\u202ec\\x9bd\\udce9"
    assert shown("line\nand\ttab 字") == "line\nand\ttab 字"
