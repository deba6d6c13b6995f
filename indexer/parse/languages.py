"""The language of a text: by its script where that decides, else by py3langid, a small offline model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import cast

UNKNOWN = "und"
_SAMPLE_CHARS = 500
_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30ff]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("ko", re.compile("[\uac00-\ud7a3]")),
    ("th", re.compile("[\u0e01-\u0e5b]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u05d0-\u05ea]")),
    ("ka", re.compile("[\u10a0-\u10ff]")),
    ("hy", re.compile("[\u0531-\u0587]")),
    ("ta", re.compile("[\u0b80-\u0bff]")),
    ("te", re.compile("[\u0c00-\u0c7f]")),
    ("km", re.compile("[\u1780-\u17ff]")),
)
_LETTERS = re.compile(r"[^\W\d_]")
_TOGETHER = {"wuu": "zh", "yue": "zh", "lzh": "zh", "nb": "no", "nn": "no"}
_FEWEST_LETTERS = 20
_LIKELY = (
    "af ar az be bg bn bs ca cs cy da de el en eo es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko "
    "la lt lv mk ml mn mr ms mt ne nl no pa pl ps pt ro ru si sk sl sq sr sv sw ta te th tl tr uk ur vi zh"
)
"""The languages told apart: those with a written office culture; the model knows rarer ones and mistakes short texts
for them."""


def detect_language(text: str) -> str:
    """The two-letter code of the language most of a text is in; ``und`` when it has too few letters to tell."""
    sample = text if len(text) <= _SAMPLE_CHARS else text[len(text) // 3 :][:_SAMPLE_CHARS]
    letters = len(_LETTERS.findall(sample))
    if not letters:
        return UNKNOWN
    counts = {code: len(pattern.findall(sample)) for code, pattern in _SCRIPTS}
    if counts["ja"] > 0.05 * letters and counts["ja"] + counts["zh"] > 0.4 * letters:
        return "ja"
    code = max(counts, key=lambda key: counts[key])
    weight = 3 if code == "zh" else 1  # a Chinese character says about as much as three letters
    if code != "ja" and counts[code] * weight > 0.5 * (letters + counts[code] * (weight - 1)):
        return code
    if letters < _FEWEST_LETTERS:
        return UNKNOWN
    found = _classify()(sample)[0]
    return _TOGETHER.get(found, found)


@lru_cache(maxsize=1)
def _classify() -> Callable[[str], tuple[str, float]]:
    import py3langid

    py3langid.set_languages(_LIKELY.split())
    return cast("Callable[[str], tuple[str, float]]", py3langid.classify)


class LanguageCount:
    """Adds up the languages of a document's pages, each with its characters."""

    def __init__(self) -> None:
        self._chars: Counter[str] = Counter()

    def add(self, language: str, chars: int) -> None:
        """Count a page."""
        if language != UNKNOWN:
            self._chars[language] += chars

    def most(self) -> str:
        """The language of most characters."""
        return self._chars.most_common(1)[0][0] if self._chars else UNKNOWN
