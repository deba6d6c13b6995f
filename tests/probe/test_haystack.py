from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from indexer.probe.facts import LANGUAGES, make_facts
from indexer.probe.haystack import background_text, make_haystacks, split_blocks

ENGLISH = "\n".join(f"Paragraph {number} tells of pumps. It has a second sentence." for number in range(200))
CHINESE = "\n".join(f"第{number}段讲的是水泵。它还有第二句话。" for number in range(300))


@pytest.mark.parametrize("language", LANGUAGES)
def test_facts_differ_and_come_again_with_their_seed(language: str) -> None:
    facts = make_facts(language, 60, 1)
    assert len({fact.sentence for fact in facts}) == len({fact.question for fact in facts}) == 60
    assert facts == make_facts(language, 60, 1)
    assert facts != make_facts(language, 60, 2)
    with pytest.raises(ValueError, match="different facts"):
        make_facts(language, 10_000, 1)


@settings(max_examples=25, deadline=None)
@given(length=st.integers(300, 30_000), seed=st.integers(0, 5))
def test_a_background_has_the_length_asked_for(length: int, seed: int) -> None:
    assert len(background_text(ENGLISH, length, str(seed))) == length


def test_no_block_repeats_before_all_were_used() -> None:
    blocks = split_blocks(ENGLISH)
    text = background_text(ENGLISH, sum(len(block) + 2 for block in blocks) - 2, "1")
    assert sorted(split_blocks(text)) == sorted(blocks)


def test_every_needle_stands_whole_and_at_its_depth() -> None:
    haystacks = make_haystacks({"en": ENGLISH, "zh": CHINESE}, (1000, 20_000), (0.0, 0.5, 1.0), 1)
    assert len(haystacks) == 2 * (3 + 1)
    assert sum(len(haystack.needles) for haystack in haystacks) == 2 * 2 * 3
    for haystack in haystacks:
        for needle in haystack.needles:
            assert haystack.text.count(needle.fact.sentence) == 1
            at = haystack.text.index(needle.fact.sentence) / len(haystack.text)
            assert abs(at - needle.depth) < 0.12


def test_a_language_without_background_is_left_out() -> None:
    assert {
        needle.fact.language for h in make_haystacks({"zh": CHINESE}, (1000,), (0.5,), 1) for needle in h.needles
    } == {"zh"}
