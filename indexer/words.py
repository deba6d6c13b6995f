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
    found = [(str(pair.word), pair.flag) for pair in _tagger().cut(text)]
    people = ("nr", "nrfg")
    return tuple(
        name
        for name, kind in found
        if len(name) > 1
        and (kind in ("ns", "nt", "nrt") or (kind in people and name[0] in _SURNAMES and len(name) < 5))
    )


def names_something(word: str) -> float:
    """How well a Chinese word names what a text is about, 0 to 1, by its kind in the segmenter's dictionary.

    1 for nouns, names and what the dictionary does not know; less for verbs and adjectives; 0 for all others.
    """
    kind = _kinds().get(word, "n")
    if kind[0] in "njilsbgzx" or kind in ("vn", "an", "eng", "un"):
        return 1.0
    return _LESS if kind[0] in "va" else 0.0


_LESS = 0.3


_SURNAMES = frozenset(
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏水窦章云苏潘葛奚范彭郎鲁韦昌马苗凤花方俞任"
    "袁柳酆鲍史唐费廉岑薛雷贺倪汤滕殷罗毕郝邬安常乐于时傅皮卞齐康伍余元卜顾孟平黄和穆萧尹姚邵汪祁毛禹狄米贝明臧计伏成戴"
    "谈宋茅庞熊纪舒屈项祝董梁杜阮蓝闵席季麻强贾路娄危江童颜郭梅盛林刁钟徐邱骆高夏蔡田樊胡凌霍虞万支柯管卢莫房裘缪干解应"
    "宗丁宣邓郁单杭洪包诸左石崔吉龚程嵇邢滑裴陆荣翁荀羊惠甄曲封芮羿储靳段焦巴牧隗谷车侯全班仰仲伊宫宁仇栾甘厉戎祖武符刘"
    "景詹束龙叶幸司韶黎薄印宿白怀蒲从鄂索咸赖卓蔺屠蒙池乔闻党翟谭贡劳申扶冉宰桑桂牛寿通边燕冀尚农温庄晏柴瞿阎充慕连茹习"
    "艾鱼容向古易慎戈廖庾终居衡步都耿满弘匡国文寇广欧殳沃利蔚越夔隆师巩聂晁勾敖融冷訾辛那简饶曾沙养鞠须丰关查荆红游竺权"
    "肖涂佟岳帅覃"
)
"""The first characters of Chinese family names; the segmenter's guesses that begin otherwise are seldom people."""


@cache
def _tagger() -> Any:
    import jieba.posseg

    return jieba.posseg.POSTokenizer(_segmenter())


@cache
def _kinds() -> dict[str, str]:
    """The kind of each word in the dictionary, in ICTCLAS's letters."""
    tagger = _tagger()
    tagger.makesure_userdict_loaded()
    kinds: dict[str, str] = tagger.word_tag_tab
    return kinds


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
