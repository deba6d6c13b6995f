"""The numbers, dates and names in a sentence: what a reader of two versions must not miss. English and Chinese."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from indexer.duplicates.results import Fact
from indexer.words import HAN, chinese_names

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?"
)
_HAN_DIGIT = "〇零一二三四五六七八九十"
_DATE = re.compile(
    rf"\d{{4}}\s*年(?:\s*\d{{1,2}}\s*月)?(?:\s*\d{{1,2}}\s*[日号])?|\d{{1,2}}\s*月\s*\d{{1,2}}\s*[日号]"
    rf"|[{_HAN_DIGIT}]{{4}}年(?:[{_HAN_DIGIT}]{{1,2}}月)?(?:[{_HAN_DIGIT}]{{1,3}}[日号])?"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?(?:\s+day)?(?:\s+of)?\s+{_MONTH}(?:,?\s+\d{{4}})?\b"
    rf"|\b{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?\b|\b{_MONTH}\s+\d{{4}}\b"
    r"|\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b|\b\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})\b"
)
_NUMBER_WORD = (
    r"(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion)"
)
_NUMBER = re.compile(
    r"(?:[A-Z]{1,6}-)?(?:(?:USD|EUR|GBP|CNY|RMB|HKD|JPY|[$€£¥￥])\s?)?[-−]?\d[\d,，]*(?:[.:]\d+)*(?:-\d+)*"
    r"(?:\s?(?:[%％‰]|(?:percent|per cent|thousand|million|billion|bn)\b"
    r"|[万亿千百]*(?:美元|欧元|元|个工作日|个月|天|日|年|吨|公里|平方米)|[万亿]))?"
    rf"|\b{_NUMBER_WORD}(?:[\s-]+(?:and\s+)?{_NUMBER_WORD})*\b"
    r"|百分之[〇零一二三四五六七八九十百点]+"
    r"|[零壹贰叁肆伍陆柒捌玖拾佰仟萬万亿]*[壹贰叁肆伍陆柒捌玖拾佰仟][零壹贰叁肆伍陆柒捌玖拾佰仟萬万亿]*(?:圆|元)?整?"
    r"|[〇零一二三四五六七八九十百千万亿两]+(?:个工作日|个月|万元|元|天|日|年|倍|份|次|名|人|台|套|件|吨|周|小时)",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"[A-Z][\w’'&-]*(?:\.(?=\s?[A-Z]))?"
    r"(?:\s+(?:(?:of|de|van|von|der|da)\s+)?[A-Z][\w’'&-]*(?:\.(?=\s?[A-Z]))?)*"
)
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
    """The numbers, dates and names that only one of two texts has, as they are written."""
    facts = []
    for kind, (old, new) in zip(KINDS, zip(_facts(before), _facts(after), strict=True), strict=True):
        gone, come = _only_in(old, new), _only_in(new, old)
        if gone or come:
            facts.append(Fact(kind, gone, come))
    return tuple(facts)


def _facts(text: str) -> tuple[list[str], list[str], list[str]]:
    """The numbers (outside dates), the dates and the names of a text, in order."""
    dates = [match.group().strip() for match in _DATE.finditer(text)]
    rest = _DATE.sub(" \N{BULLET} ", text)
    numbers = [match.group().strip(" ,，") for match in _NUMBER.finditer(rest)]
    return numbers, dates, _names(rest)


def _names(text: str) -> list[str]:
    names = []
    for match in _NAME.finditer(text):
        name = match.group()
        alone = " " not in name and not name.isupper() and name[1:].islower()
        if (
            len(name) > 2
            and not any(map(str.isdigit, name))
            and not (alone and _SENTENCE_START.search(text[: match.start()]))
        ):
            names.append(name)
    if HAN.search(text):
        organisations = [_LEADING.sub("", found) for found in _ORGANISATION.findall(text)]
        parties = _PARTY.findall(text)
        whole = " ".join(organisations + parties)
        names += dict.fromkeys([*organisations, *parties])
        names += [name for name in chinese_names(text) if name not in whole]
    return names


def _only_in(some: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    """What ``some`` has more often than ``other``, compared without white space and case."""
    left = Counter(map(_key, other))
    only = []
    for value in some:
        if left[_key(value)] > 0:
            left[_key(value)] -= 1
        elif value not in only:
            only.append(value)
    return tuple(only)


def _key(value: str) -> str:
    return "".join(value.casefold().replace("，", ",").split())
