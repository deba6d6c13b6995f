import pytest
from hypothesis import given, strategies as st

from indexer.datatypes import OffsetMap, Span, Status, text_hash


def test_span_slices_and_refuses_nonsense():
    assert Span(2, 5).of("abcdefg") == "cde"
    assert Span(2, 5).shifted(10) == Span(12, 15)
    with pytest.raises(ValueError, match="0 <= start <= end"):
        Span(3, 2)


@given(st.integers(1, 50), st.data())
def test_identity_map_changes_nothing(length, data):
    start = data.draw(st.integers(0, length))
    end = data.draw(st.integers(start, length))
    assert OffsetMap.identity(length).to_original(Span(start, end)) == Span(start, end)


def test_offset_map_covers_what_was_dropped_inside_and_nothing_outside():
    # "soft\u00adware" was cleaned to "software": one original character is gone after four.
    offsets = OffsetMap(((0, 0), (4, 5)), 8, 9)
    assert offsets.to_original(Span(0, 8)) == Span(0, 9)
    assert offsets.to_original(Span(4, 8)) == Span(5, 9)
    assert offsets.to_original(Span(3, 5)) == Span(3, 6)


def test_offset_map_of_an_expanded_ligature():
    # One original ligature became two characters, both of which point to it.
    offsets = OffsetMap(((0, 0), (1, 0), (2, 1)), 4, 3)
    assert offsets.to_original(Span(0, 1)) == Span(0, 1)
    assert offsets.to_original(Span(1, 2)) == Span(0, 1)
    assert offsets.to_original(Span(1, 3)) == Span(0, 2)


def test_only_documents_with_text_are_searchable():
    assert {status for status in Status if status.searchable} == {Status.INDEXED, Status.PARTIAL}


def test_text_hash_ignores_surrounding_space_and_survives_lone_surrogates():
    assert text_hash(" a b\n") == text_hash("a b")
    assert text_hash("a b") != text_hash("a  b")
    assert len(text_hash("\ud800")) == 16
