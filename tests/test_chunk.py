from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings, strategies as st

from indexer.chunk import chunk_pages
from indexer.datatypes import Chunk, Heading, OffsetMap, Page
from tests.fakes import FakeEncoder

count = FakeEncoder().count_tokens
WORDS = [
    "alpha",
    "beta",
    "gamma.",
    "Delta",
    "e.g.",
    "3.14",
    "合同",
    "条款。",
    "交付；",
    "\n",
    "\n\n",
    "(x)",
    "«q»",
    "ก" * 9,
]


def page(text: str, number: int | None = None, *headings: Heading) -> Page:
    return Page(text, OffsetMap.identity(len(text)), number, headings=headings)


def prose(seed: int, paragraphs: int) -> list[str]:
    generator = random.Random(seed)
    vocabulary = [f"w{number}" for number in range(500)]
    return [
        " ".join(
            " ".join(generator.choices(vocabulary, k=generator.randint(4, 25))).capitalize() + "."
            for _ in range(generator.randint(1, 8))
        )
        for _ in range(paragraphs)
    ]


@st.composite
def documents(draw: st.DrawFn) -> list[Page]:
    texts = draw(
        st.lists(
            st.lists(st.sampled_from(WORDS), max_size=120).map(" ".join) | st.text(max_size=60) | st.just(" \n"),
            max_size=6,
        )
    )
    pages = []
    for number, text in enumerate(texts, 1):
        starts = draw(st.lists(st.integers(0, max(len(text) - 1, 0)), max_size=3))
        pages.append(page(text, number, *(Heading(1 + start % 3, f"H{start}", start) for start in starts)))
    return pages


@settings(max_examples=150, deadline=None)
@given(documents(), st.integers(8, 60), st.integers(0, 30))
def test_chunks_tile_the_document_within_their_bounds(pages: list[Page], limit: int, minimum: int) -> None:
    text = "".join(page.text for page in pages)
    chunks = list(chunk_pages(pages, count, chunk_tokens=limit, minimum=minimum))
    assert "".join(chunk.text for chunk in chunks) == (text if text.strip() else "")
    minimum = min(minimum, limit // 4)
    for position, chunk in enumerate(chunks):
        assert chunk.position == position
        assert chunk.span.of(text) == chunk.text
        assert chunk.text.strip()
        assert chunk.tokens <= limit
        assert chunk.first_page is not None
        assert chunk.last_page is not None
        assert 1 <= chunk.first_page <= chunk.last_page <= len(pages)


@given(st.integers(0, 10_000), st.integers(1, 40))
def test_no_chunk_is_smaller_than_the_minimum_unless_it_is_the_only_one(seed: int, paragraphs: int) -> None:
    chunks = list(chunk_pages([page("\n\n".join(prose(seed, paragraphs)))], count))
    assert len(chunks) == 1 or min(chunk.tokens for chunk in chunks) >= 24


@pytest.mark.parametrize(
    "line",
    ["QmFzZTY0" * 40_000, "กขคง" * 50_000, "字" * 200_000, "a b" * 60_000, "\u0301" * 20_000, " " * 50_000 + "end"],
    ids=["base64", "thai", "chinese", "words", "marks", "blanks"],
)
def test_a_line_without_borders_is_bounded_in_tokens_and_characters(line: str) -> None:
    chunks = list(chunk_pages([page(line)], lambda texts: [len(text.strip()) // 2 for text in texts]))
    assert "".join(chunk.text for chunk in chunks) == line
    assert max(chunk.tokens for chunk in chunks) <= 192
    assert max(len(chunk.text.strip()) for chunk in chunks) <= 192 * 16


def test_characters_that_count_as_no_token_are_bounded_too() -> None:
    chunks = list(chunk_pages([page("x" * 100_000)], lambda texts: [0] * len(texts)))
    assert max(len(chunk.text) for chunk in chunks) <= 192 * 17


def test_sentences_are_kept_whole() -> None:
    text = " ".join(prose(3, 60))
    chunks = list(chunk_pages([page(text)], count))
    assert len(chunks) > 10
    assert all(chunk.text.rstrip().endswith(".") for chunk in chunks)


def test_chunks_are_packed() -> None:
    chunks = list(chunk_pages([page("\n\n".join(prose(5, 300)))], count))
    mean = sum(chunk.tokens for chunk in chunks) / len(chunks)
    assert 140 <= mean <= 192


def test_paragraphs_are_preferred_to_sentences() -> None:
    paragraphs = [" ".join(f"Word{i} goes here now." for i in range(j, j + 8)) for j in range(0, 320, 8)]
    chunks = list(chunk_pages([page("\n\n".join(paragraphs))], count))
    assert all(chunk.text.endswith("\n\n") for chunk in chunks[:-1])


def test_a_heading_begins_a_chunk_and_gives_its_path() -> None:
    first, second = " ".join(prose(1, 3)), " ".join(prose(2, 3))
    text = f"Part\n\nOne\n\n{first}\n\nTwo\n\n{second}"
    headings = (Heading(1, "Part", 0), Heading(2, "One", 6), Heading(2, "Two", text.index("Two\n\n")))
    chunks = list(chunk_pages([page(text, None, *headings)], count))
    assert chunks[0].headings == ("Part",)
    assert [chunk.headings for chunk in chunks if chunk.text.startswith("Two")] == [("Part", "Two")]
    assert not any(chunk.text.rstrip().endswith("Two") for chunk in chunks)
    assert chunks[-1].headings == ("Part", "Two")


def test_small_sections_share_a_chunk() -> None:
    text = "".join(f"Q{number}\n\nShort answer {number}.\n\n" for number in range(40))
    headings = tuple(Heading(1, f"Q{number}", text.index(f"Q{number}\n")) for number in range(40))
    chunks = list(chunk_pages([page(text, None, *headings)], count))
    assert all(chunk.text.startswith("Q") for chunk in chunks)
    assert all(chunk.tokens >= 64 for chunk in chunks[:-1])


def test_pages_and_a_sentence_that_runs_over_one() -> None:
    pages = [page("The contract between the\n\n", 1), page("parties ends. " + " ".join(prose(7, 20)), 2)]
    chunks = list(chunk_pages(pages, count))
    assert (chunks[0].first_page, chunks[0].last_page) == (1, 2)
    assert chunks[-1].first_page == 2


def test_the_language_is_that_of_most_characters() -> None:
    pages = [
        Page("Short. ", OffsetMap.identity(7), 1, language="en"),
        Page("这一页的内容比前一页长得多。" * 2, OffsetMap.identity(28), 2, language="zh"),
    ]
    assert next(chunk_pages(pages, count)).language == "zh"


@pytest.mark.parametrize("separator", ["\n\n", " "], ids=["paragraphs", "sentences only"])
def test_a_changed_paragraph_leaves_nearly_all_chunks_as_they_were(separator: str) -> None:
    paragraphs = prose(11, 1_500)
    before = {chunk.text: chunk.tokens for chunk in chunk_pages(bounded(separator.join(paragraphs)), count)}
    paragraphs[300] = "An entirely different paragraph. " * 9 + "It is longer."
    after = list(chunk_pages(bounded(separator.join(paragraphs)), count))
    fresh = sum(chunk.tokens for chunk in after if chunk.text not in before)
    assert 0 < fresh < 0.02 * sum(chunk.tokens for chunk in after)


def test_pages_are_taken_one_at_a_time() -> None:
    taken = 0

    def pages() -> Iterator[Page]:
        nonlocal taken
        for number in range(100):
            taken += 1
            yield page("\n\n".join(prose(number, 10)) + "\n\n", number + 1)

    chunks = chunk_pages(pages(), count)
    next(chunks)
    assert taken <= 2


def test_tokens_are_counted_about_once() -> None:
    counted: list[str] = []

    def counting(texts: Sequence[str]) -> list[int]:
        counted.extend(texts)
        return count(texts)

    text = "\n\n".join(prose(13, 200))
    list(chunk_pages([page(text)], counting))
    assert sum(map(len, counted)) < 1.2 * len(text)


def bounded(text: str, size: int = 20_000) -> list[Page]:
    """Pages cut behind a word, as a reader of plain text cuts a long one."""
    pages, start = [], 0
    while start < len(text):
        end = text.find(". ", start + size)
        end = len(text) if end < 0 else end + 2
        pages.append(page(text[start:end]))
        start = end
    return pages


def test_an_empty_document_has_no_chunks() -> None:
    assert list(chunk_pages([], count)) == []
    assert list(chunk_pages([page(""), page(" \n ")], count)) == []


def test_a_limit_too_small_to_work_with_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 8"):
        list(chunk_pages([], count, chunk_tokens=4))


def test_chunks_are_frozen() -> None:
    (chunk,) = chunk_pages([page("One sentence.")], count)
    assert isinstance(chunk, Chunk)
    assert (chunk.tokens, chunk.first_page, chunk.headings) == (3, None, ())
