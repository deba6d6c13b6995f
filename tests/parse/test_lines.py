"""Reading order: columns after one another, tables by rows, vertical columns from the right."""

from __future__ import annotations

from hypothesis import given, strategies as st

from indexer.parse.lines import Gap, Line, ordered

LEFT = [f"left column line number {number}" for number in range(6)]
RIGHT = [f"right column line number {number}" for number in range(6)]


def line(text: str, left: float, bottom: float, width: float = 200, height: float = 10, start: int = 0) -> Line:
    return Line(text, start, left, bottom, left + width, bottom + height)


def texts(lines: list[Line]) -> list[str]:
    return [item.text.strip() for item in lines]


def test_lines_that_run_over_two_columns_are_split() -> None:
    lines = [line("A title over both columns of the page", 0, 700, 460)]
    for place, (a, b) in enumerate(zip(LEFT, RIGHT, strict=True)):
        gap = Gap(len(a) + 1, 200, 250)
        lines.append(Line(f"{a} {b}", 100 * place, 0, 600 - 12 * place, 460, 610 - 12 * place, (gap,)))
    found = ordered(lines)
    assert texts(found) == ["A title over both columns of the page", *LEFT, *RIGHT]
    assert found[7].start == len(LEFT[0]) + 1


def test_interleaved_columns_are_put_one_after_the_other() -> None:
    lines = [
        item
        for place in range(6)
        for item in (line(RIGHT[place], 250, 600 - 12 * place), line(LEFT[place], 0, 604 - 12 * place))
    ]
    assert texts(ordered(lines)) == LEFT + RIGHT


def test_columns_in_the_order_of_the_page_stay() -> None:
    lines = [line(text, 0, 600 - 12 * place) for place, text in enumerate(LEFT)]
    lines += [line(text, 250, 600 - 12 * place) for place, text in enumerate(RIGHT)]
    assert texts(ordered(lines)) == LEFT + RIGHT


def test_a_table_is_read_by_rows() -> None:
    rows = [f"Pump model PX-{number} with motor 1{number},50 EUR" for number in range(8)]
    lines = [
        Line(row, 0, 0, 600 - 12 * place, 460, 610 - 12 * place, (Gap(27, 200, 380),)) for place, row in enumerate(rows)
    ]
    assert texts(ordered(lines)) == rows


def test_vertical_japanese_runs_from_the_right() -> None:
    columns = ["みんなのおのおのの", "すべてがわたくしの", "ある程度までは"]
    lines = [line(text, 100 + 20 * place, 100, 12, 300) for place, text in enumerate(columns)]
    assert texts(ordered(lines)) == columns[::-1]


def test_vertical_text_in_two_bands_is_read_band_by_band() -> None:
    upper = [
        line(text, 140 - 20 * place, 500, 12, 200)
        for place, text in enumerate(("上の一行目", "上の二行目", "上の三行目"))
    ]
    lower = [
        line(text, 140 - 20 * place, 200, 12, 200)
        for place, text in enumerate(("下の一行目", "下の二行目", "下の三行目"))
    ]
    assert ordered([*lower, *upper]) == [*upper, *lower]


def test_upside_down_order_is_put_right() -> None:
    lines = [line(text, 0, 100 + 12 * place) for place, text in enumerate(reversed(LEFT))]
    assert texts(ordered(lines)) == LEFT


@given(
    st.lists(
        st.tuples(
            st.floats(0, 500), st.floats(0, 800), st.floats(0, 300), st.floats(0, 30), st.text("ab み", min_size=1)
        ),
        max_size=30,
    )
)
def test_no_line_is_lost_or_doubled(shapes: list[tuple[float, float, float, float, str]]) -> None:
    lines = [line(text, x, y, w, h, place) for place, (x, y, w, h, text) in enumerate(shapes)]
    assert sorted(item.start for item in ordered(lines)) == list(range(len(lines)))
