from __future__ import annotations

from indexer.encode.packed import PackedVocabulary
from indexer.encode.unigram import build_tokenizer

VOCABULARY = PackedVocabulary(
    pieces=("<s>", "<pad>", "</s>", "<unk>", "▁", "▁a", "b", "ab", "fi", "<mask>"),
    scores=(0, 0, 0, 0, -3, -2, -2, -3, -1, 0),
    bos=0,
    eos=2,
    pad=1,
    unk=3,
    normalizer={0xFB01: "fi", 0x0A: " ", 7: ""},
)


def test_texts_are_normalised_framed_and_split_by_score() -> None:
    tokenizer = build_tokenizer(VOCABULARY)
    assert tokenizer.encode("ab").tokens == ["<s>", "▁a", "b", "</s>"]
    assert tokenizer.encode("a\n\n \x07b ﬁ\n").tokens == ["<s>", "▁a", "▁", "b", "▁", "fi", "</s>"]
    assert tokenizer.encode("z").ids == [0, 4, 3, 2]
    assert tokenizer.encode("").ids == [0, 2]
