from __future__ import annotations

from hypothesis import given, strategies as st
from tokenizers import normalizers

from indexer.encode.charsmap import build_charsmap

points = st.integers(1, 0x10FFFF).filter(lambda point: not 0xD800 <= point <= 0xDFFF)
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=3)


@given(st.dictionaries(points, texts, min_size=1, max_size=30), points)
def test_the_tokenizer_replaces_exactly_what_the_table_says(table: dict[int, str], other: int) -> None:
    normalizer = normalizers.Precompiled(build_charsmap(table))
    for point in (*table, other):
        assert normalizer.normalize_str(chr(point)) == table.get(point, chr(point))
