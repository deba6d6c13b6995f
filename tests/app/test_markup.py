import html
import re

from hypothesis import given, strategies as st

from app.markup import escaped, excerpt, label, marked, plain
from indexer import Span

HOSTILE = """<script>alert(1)</script> $x^2$ **b** [x](javascript:alert(1)) :material/home: :smile: -> & "q" 'a'"""


def bare(markup: str) -> str:
    return html.unescape(re.sub(r"</?(?:mark|span[^<>]*)>", "", markup))


def test_escaped_text_holds_no_tag_and_reads_as_before():
    assert "<" not in escaped(HOSTILE)
    assert html.unescape(escaped(HOSTILE)) == HOSTILE


def test_controls_surrogates_and_direction_marks_do_not_reach_the_browser():
    assert plain("a\x00b\ud800c\u202ed\n") == "a\ufffdb\ufffdc\ufffdd\n"


def test_a_label_shows_its_text_and_nothing_of_it_is_markdown():
    made = label(HOSTILE)
    assert re.sub(r"\\(.)\u2060", r"\1", made) == HOSTILE
    assert ":material/home:" not in made
    assert not re.search(r"(?<!\\)[*$\[\]<>`:_]", made)


def test_a_long_label_is_cut_on_one_line():
    assert label("word\n" * 100, 20) == "word word word word…"


def test_highlights_are_marked_and_the_best_sentence_tinted():
    text = "One late delivery. Two."
    assert marked(text, [Span(4, 8)], Span(0, 18)) == (
        '<span class="ld-best">One <mark>late</mark> delivery.</span> Two.'
    )


def test_a_highlight_that_crosses_the_sentence_keeps_the_tags_nested():
    assert marked("ab cd", [Span(1, 4)], Span(0, 2)) == '<span class="ld-best">a<mark>b</mark></span><mark> c</mark>d'


def test_white_space_around_the_text_is_left_out():
    assert marked("  a b \n\n", [Span(2, 3)]) == "<mark>a</mark> b"


spans = st.builds(lambda a, b: Span(min(a, b), max(a, b)), st.integers(0, 60), st.integers(0, 60))


@given(st.text(max_size=50), st.lists(spans, max_size=5), st.none() | spans)
def test_marking_changes_no_character_and_nests_its_tags(text, highlights, sentence):
    made = marked(text, highlights, sentence)
    assert bare(made) == plain(text.strip())
    depth: list[str] = []
    for closing, tag in re.findall(r"<(/?)(mark|span)", made):
        if closing:
            assert depth.pop() == tag
        else:
            depth.append(tag)
    assert depth == []


def test_an_excerpt_is_cut_between_words():
    text = "The quick brown fox jumps over the lazy dog and runs away from the hunters of the forest."
    cut = excerpt(text, text.index("lazy"), 40)
    assert cut.of(text) == "over the lazy dog and runs away from"


@given(st.text(max_size=80), st.integers(0, 80), st.integers(8, 60))
def test_an_excerpt_holds_what_it_is_around(text, around, length):
    around = min(around, max(len(text) - 1, 0))
    cut = excerpt(text, around, length)
    assert cut.end <= len(text)
    assert len(cut) <= length
    assert not text[around : around + 1].strip() or cut.start <= around
