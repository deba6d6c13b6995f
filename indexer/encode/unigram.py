"""Writes the tokenizer.json of a SentencePiece unigram vocabulary, as XLM-RoBERTa's family uses it."""

from __future__ import annotations

from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from indexer.encode.charsmap import build_charsmap
from indexer.encode.packed import PackedVocabulary

MASK = "<mask>"


def build_tokenizer(vocabulary: PackedVocabulary) -> Tokenizer:
    """A tokenizer with ``<s> text </s>`` around each text, without truncation or padding.

    White space at the ends is dropped, as SentencePiece itself does: a chunk that ends in line breaks gets no
    token for them.
    """
    pieces = vocabulary.pieces
    tokenizer = Tokenizer(models.Unigram(list(zip(pieces, vocabulary.scores, strict=True)), vocabulary.unk, False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(build_charsmap(vocabulary.normalizer)),
            normalizers.Replace(Regex(" {2,}"), " "),
            normalizers.Strip(),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    bos, eos = pieces[vocabulary.bos], pieces[vocabulary.eos]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}",
        pair=f"{bos} $A {eos} {eos} $B {eos}",
        special_tokens=[(bos, vocabulary.bos), (eos, vocabulary.eos)],
    )
    special = [bos, pieces[vocabulary.pad], eos, pieces[vocabulary.unk]]
    tokenizer.add_special_tokens(
        [AddedToken(piece, normalized=False, special=True) for piece in special]
        + [AddedToken(MASK, lstrip=True, normalized=False, special=True)]
    )
    return tokenizer


def write_tokenizer(vocabulary: PackedVocabulary, folder: Path) -> None:
    """Write ``tokenizer.json`` into ``folder``."""
    build_tokenizer(vocabulary).save(str(folder / "tokenizer.json"), pretty=False)
