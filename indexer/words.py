"""Words of English, Chinese and mixed text, for labels and differences; the only room that imports jieba.

SQLite's word index has its own rules (character bigrams); this is for words that people read.
"""

from __future__ import annotations

import re
import tempfile
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|[^\W\d_][^\W_]*(?:['’\-][^\W_]+)*")


def words(text: str) -> Iterator[str]:
    """The words of a text in order, case folded, Chinese ones cut by jieba; numbers and punctuation are left out."""
    text = unicodedata.normalize("NFKC", text).casefold()
    for run in _RUN.finditer(text):
        piece = run.group()
        if HAN.match(piece):
            yield from _segmenter().cut(piece)
        else:
            yield piece


def han_share(text: str) -> float:
    """The part of the letters in a text that are Chinese characters, 0 to 1."""
    letters = sum(map(str.isalpha, text))
    return len(HAN.findall(text)) / letters if letters else 0.0


def chinese_names(text: str) -> tuple[str, ...]:
    """People, places and organisations in a Chinese text, in order, as far as the segmenter knows or guesses them."""
    found = (str(pair.word) for pair in _tagger().cut(text) if pair.flag in ("nr", "ns", "nt", "nz", "nrt", "nrfg"))
    return tuple(name for name in found if len(name) > 1)


@cache
def _tagger() -> Any:
    import jieba.posseg

    return jieba.posseg.POSTokenizer(_segmenter())


@cache
def _segmenter() -> Any:  # jieba has no types
    """A segmenter whose dictionary is never read back from a shared temporary folder, where anybody could write."""
    import logging

    import jieba

    jieba.setLogLevel(logging.ERROR)
    segmenter = jieba.Tokenizer()
    with tempfile.TemporaryDirectory() as directory:
        segmenter.tmp_dir = directory
        segmenter.initialize()
    return segmenter
