"""The numbers, dates and names in a sentence: what a reader of two versions must not miss. English, German, Chinese."""

from __future__ import annotations

import re
from collections import Counter

from indexer.duplicates.results import Fact
from indexer.duplicates.values import MONTHS, NUMBER_WORD, date_value, number_value
from indexer.words import HAN, chinese_names

_MONTH = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?"
_HAN_DIGIT = "〇零一二三四五六七八九十"
_DATE = re.compile(
    rf"\d{{4}}\s*年(?:\s*\d{{1,2}}\s*月)?(?:\s*\d{{1,2}}\s*[日号])?|\d{{1,2}}\s*月\s*\d{{1,2}}\s*[日号]"
    rf"|[{_HAN_DIGIT}]{{4}}年(?:[{_HAN_DIGIT}]{{1,2}}月)?(?:[{_HAN_DIGIT}]{{1,3}}[日号])?"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th|\.)?(?:\s+day)?(?:\s+of)?\s+{_MONTH}(?:,?\s+\d{{4}}\b)?"
    rf"|\b{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}}\b)?|\b{_MONTH}\s+\d{{4}}\b"
    r"|\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b|\b\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})\b",
    re.IGNORECASE,
)
_CURRENCY = r"(?:USD|EUR|GBP|CNY|RMB|HKD|JPY|CHF|[$€£¥￥])"
_NUMBER = re.compile(
    rf"(?:[A-Z]{{1,6}}-)?(?:{_CURRENCY}\s?)?[-−]?\d[\d,，]*(?:[.:]\d+)*(?:,\d+)?(?:-\d+)*"
    r"(?:\s?(?:percent|per cent|Prozent|thousand|million|billion|bn|Tausend|Millionen|Mio\.?|Milliarden?|Mrd\.?)\b"
    r"|\s?[%％‰万亿])?"
    rf"(?:\s?(?:euros?\b|{_CURRENCY}(?![a-z]))|[万亿千百]*(?:美元|欧元|元(?![数素件组旦宵])|个工作日|个月|天(?![线气然])"
    r"|日(?![志期本常])|年(?![龄轻级])|吨|公里|平方米))?"
    rf"|\b(?:{NUMBER_WORD})(?:[\s-]+(?:and\s+)?(?:{NUMBER_WORD}))*\b"
    r"|百分之[〇零一二三四五六七八九十百点]+"
    r"|[零壹贰叁肆伍陆柒捌玖拾佰仟萬万亿]*[壹贰叁肆伍陆柒捌玖拾佰仟][零壹贰叁肆伍陆柒捌玖拾佰仟萬万亿]*(?:圆|元)?整?"
    r"|[〇零一二三四五六七八九十百千万亿两]+(?:个工作日|个月|万元|元|天|日|年|倍|份|次|名|人|台|套|件|吨|周|小时)",
    re.IGNORECASE,
)
_LATIN = r"[A-Za-zÀ-ÖØ-öø-ÿĀ-ž0-9’'&-]"
_WORD = rf"[A-ZÀ-ÖØ-ÞĀ-Ž]{_LATIN}*(?:\.(?=\s?[A-Z]))?"
_NAME = re.compile(rf"(?<!{_LATIN}){_WORD}(?:\s(?:(?:of|de|van|von|der|da)\s)?{_WORD})*")
_GERMAN = re.compile(r"\b(?:der|die|das|und|von|für|mit|den|dem|ist|wird|bis|zum|zur|nach|beträgt|Prozent)\b")
_GERMAN_NAME = re.compile(
    rf"(?:(?:Herrn?|Frau|Dr\.|Prof\.|Dipl\.-Ing\.)\s+)+{_WORD}(?:\s{_WORD})*|{_WORD}(?:\s(?:&\s)?{_WORD})+"
)
_FUNCTION = """
The This That These Those There Then They A An And But Or For In On At By Of To With From If When While Where As
Although However It Its His Her He She We Our You Your All Any Each Every No Not Article Section Clause Schedule
Der Die Das Ein Eine Im Am Zum Zur Mit Von Für Bei Nach Auf Und Oder
"""
_FUNCTION_WORDS = frozenset(_FUNCTION.split())
_ORGANISATION = re.compile(
    r"[\u4e00-\u9fff（）()]{2,20}?(?:有限责任公司|股份有限公司|有限公司|集团|银行|事务所|委员会|研究院|研究所|大学|学院"
    r"|医院|法院)"
)
_PARTY = re.compile(
    r"(?:甲方|乙方|丙方|丁方|法定代表人|委托代理人|联系人|负责人|姓名|单位名称)\s*[：:]\s*([^\s，。；、,;：:]{2,30})"
)
_LEADING = re.compile(r"^(?:甲方|乙方|丙方|由|与|和|及|向|为|在|经|被|是|即|本合同)+")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;。！？：；]\s*|\n\s*)[\"“(]*$")

KINDS = ("number", "date", "name")


def facts_that_differ(before: str, after: str) -> tuple[Fact, ...]:
    """The numbers, dates and names that only one of two texts has, as they are written.

    A date or a number written in another way is the same one.
    """
    german = is_german(before) or is_german(after)
    facts = []
    for kind, old, new in zip(KINDS, _facts(before, german), _facts(after, german), strict=True):
        gone, come = _only_in(old, new), _only_in(new, old)
        if gone or come:
            facts.append(Fact(kind, gone, come))
    return tuple(facts)


def in_one_form(text: str, german: bool) -> str:
    """The text with every date and number as its value, so that another way to write it is no difference."""
    text = _DATE.sub(lambda match: f" {date_value(match.group())} ", text)
    return _NUMBER.sub(lambda match: f" {number_value(match.group().strip(' ,，'), german)} ", text)


def is_german(text: str) -> bool:
    """Whether a sentence has words that only German ones have: decides how its numbers are read."""
    return bool(_GERMAN.search(text))


_Facts = list[tuple[str, str]]
"""Each fact's value and how it is written."""


def _facts(text: str, german: bool) -> tuple[_Facts, _Facts, _Facts]:
    """The numbers (outside dates), the dates and the names of a text, in order."""
    dates = [(date_value(match.group()), match.group().strip()) for match in _DATE.finditer(text)]
    rest = _DATE.sub(" \N{BULLET} ", text)
    written = [match.group().strip(" ,，") for match in _NUMBER.finditer(rest)]
    numbers = [(number_value(number, german), number) for number in written]
    numbers = [number for number, before in zip(numbers, [("", ""), *numbers], strict=False) if number[0] != before[0]]
    return numbers, dates, [("".join(name.casefold().split()), " ".join(name.split())) for name in _names(rest, german)]


def _names(text: str, german: bool) -> list[str]:
    names = []
    for match in (_GERMAN_NAME if german else _NAME).finditer(text):
        words = match.group().split()
        while words and words[0] in _FUNCTION_WORDS:
            words.pop(0)
        name = " ".join(words)
        alone = len(words) == 1 and not name.isupper() and name[1:].islower()
        begins = alone and len(words) == len(match.group().split()) and _SENTENCE_START.search(text[: match.start()])
        if len(name) > 2 and not any(map(str.isdigit, name)) and not begins:
            names.append(name)
    if HAN.search(text):
        organisations = [_LEADING.sub("", found) for found in _ORGANISATION.findall(text)]
        parties = _PARTY.findall(text)
        whole = " ".join(organisations + parties)
        names += dict.fromkeys([*organisations, *parties])
        names += [name for name in chinese_names(text) if name not in whole]
    return names


def _only_in(some: _Facts, other: _Facts) -> tuple[str, ...]:
    """What ``some`` has more often than ``other``, by value."""
    left = Counter(value for value, _ in other)
    only: dict[str, str] = {}
    for value, written in some:
        if left[value] > 0:
            left[value] -= 1
        else:
            only.setdefault(value, written)
    return tuple(only.values())
