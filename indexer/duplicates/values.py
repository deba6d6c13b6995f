"""What a date or a number says, however it is written: 3 March 2024 is 2024-03-03, 1.200,50 EUR is €1,200.50."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

_MONTH_NAMES = """
january jan januar jänner
february feb februar
march mar märz mär
april apr
may mai
june jun juni
july jul juli
august aug
september sept sep
october oct oktober okt
november nov
december dec dezember dez
"""
MONTHS = {
    name: number for number, names in enumerate(_MONTH_NAMES.strip().splitlines(), start=1) for name in names.split()
}
"""The number of each month by its English and German names and abbreviations."""

_HAN_DIGITS = "〇零 一壹 二贰两 三叁 四肆 五伍 六陆 七柒 八捌 九玖"
_HAN = {character: number for number, same in enumerate(_HAN_DIGITS.split()) for character in same}
_HAN_SCALES = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1_000, "仟": 1_000}
_HAN_MYRIADS = {"万": 10_000, "萬": 10_000, "亿": 100_000_000}
_BELOW_TWENTY = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn
achtzehn neunzehn
"""
_TENS = """
twenty thirty forty fifty sixty seventy eighty ninety
zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig
"""
_WORDS = {word: place % 20 for place, word in enumerate(_BELOW_TWENTY.split())} | {
    word: 20 + 10 * (place % 8) for place, word in enumerate(_TENS.split())
}
_GERMAN_JOINED = re.compile(r"(ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun)und(\w+zig|\w+ßig)")
_SCALES = {
    "hundred": 100, "hundert": 100, "thousand": 1_000, "tausend": 1_000, "million": 10**6, "millionen": 10**6,
    "mio": 10**6, "billion": 10**9, "bn": 10**9, "milliarde": 10**9, "milliarden": 10**9, "mrd": 10**9, "万": 10**4,
    "亿": 10**8,
}  # fmt: skip
_UNITS = {
    "%": "%", "percent": "%", "per cent": "%", "prozent": "%", "v.h.": "%", "‰": "‰", "$": "USD", "usd": "USD",
    "美元": "USD", "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "欧元": "EUR", "£": "GBP", "gbp": "GBP",
    "¥": "CNY", "￥": "CNY", "cny": "CNY", "rmb": "CNY", "元": "CNY", "圆": "CNY", "人民币": "CNY", "chf": "CHF",
    "hkd": "HKD", "jpy": "JPY",
}  # fmt: skip
_UNIT = re.compile("|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True)))
_SCALE = re.compile("|".join(sorted(_SCALES, key=len, reverse=True)))
NUMBER_WORD = "|".join(
    sorted({*_WORDS, "hundred", "thousand", "million", "billion", "hundert", "tausend"}, key=len)[::-1]
)
"""The number words, as a part of a regular expression; the longest first."""

_GROUPED = {
    ",": re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"),
    ".": re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?"),
}


def date_value(text: str) -> str:
    """A date as year-month-day, with ``?`` for what it leaves open; as it is written where that can mean two days."""
    text = text.casefold()
    digits = [int(part) for part in re.findall(r"\d+", text)]
    if re.search("[年月]", text):
        parts = [_part(text, mark) for mark in "年月日"]
        return "-".join("?" if part is None else str(part) for part in parts)
    month = next((MONTHS[word] for word in re.findall(r"[^\W\d_]+", text) if word in MONTHS), None)
    if month is not None:
        year = next((number for number in digits if number > 31), None)
        day = next((number for number in digits if number <= 31), None)
        return f"{year or '?'}-{month}-{day or '?'}"
    if len(digits) == 3 and digits[0] > 31:
        return "-".join(map(str, digits))
    if len(digits) == 3 and ("." in text or digits[0] > 12):
        return f"{digits[2] + 2000 if digits[2] < 100 else digits[2]}-{digits[1]}-{digits[0]}"
    return text


def _part(text: str, mark: str) -> int | None:
    """The number before 年, 月 or 日 (号 as well), in digits or in Chinese numerals."""
    found = re.search(rf"([\d〇零一二三四五六七八九十]+)\s*{'[日号]' if mark == '日' else mark}", text)
    if found is None:
        return None
    return int(found[1]) if found[1].isdigit() else han_number(found[1])


def number_value(text: str, german: bool = False) -> str:
    """A number as its value and unit (``1200.5 EUR``, ``5 %``), or as it is written when it is no plain number.

    ``german``: a point before three digits separates thousands, as it does anyway when a comma follows.
    """
    rest = (
        "".join(text.casefold().replace("，", ",").replace("−", "-").split()) if not text.isascii() else text.casefold()
    )
    units = sorted({_UNITS[unit] for unit in _UNIT.findall(rest)})
    if rest.startswith("百分之"):
        units, rest = ["%"], rest[3:]
    rest = _UNIT.sub("", rest)
    scale = 1
    for word in _SCALE.findall(rest) if any(map(str.isdigit, rest)) else ():
        scale *= _SCALES[word]
    digits = _SCALE.sub("", rest).strip(" .,") if scale > 1 else rest.strip(" ,整")
    value = _plain_number(digits, german)
    if value is None:
        value = _in_words(digits)
    if value is None:
        return "".join(text.casefold().replace("，", ",").split())
    return " ".join([f"{(value * scale).normalize():f}", *units])


def _plain_number(digits: str, german: bool) -> Decimal | None:
    sign, bare = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    bare = bare.strip()
    if "," in bare and "." in bare:
        german = bare.rindex(",") > bare.rindex(".")
    thousands, point = (".", ",") if german or re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}", bare) else (",", ".")
    if _GROUPED[thousands].fullmatch(bare):
        bare = bare.replace(thousands, "")
    elif point == "." and re.fullmatch(r"\d+,\d{1,2}", bare):
        point = ","
    try:
        return Decimal(sign + bare.replace(point, "."))
    except InvalidOperation:
        return None


def _in_words(text: str) -> Decimal | None:
    """The value of English, German or Chinese number words; None when there is anything else."""
    if text and all(character in _HAN or character in _HAN_SCALES or character in _HAN_MYRIADS for character in text):
        return Decimal(han_number(text))
    total, current = 0, 0
    words = _GERMAN_JOINED.sub(r"\2 \1", text).replace("einhundert", "hundert").replace("-", " ").split()
    for word in words:
        if word in _WORDS or word == "ein":
            current += _WORDS.get(word, 1)
        elif word in ("hundred", "hundert"):
            current = max(current, 1) * 100
        elif word in _SCALES:
            total, current = total + max(current, 1) * _SCALES[word], 0
        elif word != "and":
            return None
    return Decimal(total + current) if words else None


def han_number(text: str) -> int:
    """The value of Chinese numerals: 十二万 is 120,000, 二〇二四 is 2024."""
    if len(text) > 1 and all(character in _HAN for character in text):
        return int("".join(str(_HAN[character]) for character in text))
    total = section = digit = 0
    for character in text:
        if character in _HAN_SCALES:
            section, digit = section + (digit or 1) * _HAN_SCALES[character], 0
        elif character in _HAN_MYRIADS:
            total, section, digit = total + (section + digit) * _HAN_MYRIADS[character], 0, 0
        else:
            digit = _HAN[character]
    return total + section + digit
