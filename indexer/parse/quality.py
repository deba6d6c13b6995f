"""Tells a text layer from garbage: characters that nobody writes, scripts mixed inside words, letters shifted."""

from __future__ import annotations

import re

_BAD = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\ufffc\ue000-\uf0a6\uf0a8-\uf0b6\uf0b8-\uf8ff\U000f0000-\U0010ffff\ud800-\udfff]"
)
_SPACE = re.compile(r"\s+")
_HIGHEST_BAD_SHARE = 0.25

_SCRIPTS = tuple(
    re.compile(f"[{ranges}]")
    for ranges in (
        "\u0100-\u024f\u1e00-\u1eff",  # Latin with rarer marks; the common ones stand beside anything
        "\u0370-\u03ff",
        "\u0400-\u052f",
        "\u0530-\u058f",
        "\u0590-\u05ff",
        "\u0600-\u07bf\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufefc",
        "\u0900-\u0dff",
        "\u0e00-\u0fff",
        "\u1000-\u1fff",
        "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff",
        "\uac00-\ud7a3\u1100-\u11ff",
        "\ua000-\uabff",
    )
)
_FOREIGN_RUN = re.compile(r"[^\W\d_\x00-\xff]{2,}")
_HIGHEST_MIXED_SHARE = 0.15
_LEAST_PAIRS = 12

_WORDS = re.compile(
    r"\b(?:the|of|and|to|in|is|for|de|la|le|les|et|un|une|der|die|das|und|ist|el|los|en|il|di|che|van|het|een|da|do|na|se|je|i|w|z|og|av|att|ve|bir)\b",
    re.IGNORECASE,
)
_LEAST_LETTERS = 200
_LOWEST_VOWEL_SHARE = 0.2


def bad_share(text: str) -> float:
    """The share of visible characters that no person can have written, 0 to 1."""
    visible = _SPACE.sub("", text)
    return len(_BAD.findall(visible)) / len(visible) if visible else 0.0


def is_garbage(text: str) -> bool:
    """Whether a text layer is of no use: its fonts do not say, or say wrongly, which characters their glyphs are."""
    return (
        bad_share(text.replace("\x02", "").replace("\ufffe", "")) > _HIGHEST_BAD_SHARE
        or _is_mixed(text)
        or _is_shifted(text)
    )


def _is_mixed(text: str) -> bool:
    """Whether scripts that are never written in one word alternate inside words."""
    pairs = mixed = 0
    for run in _FOREIGN_RUN.findall(text):
        kinds = [next((n for n, script in enumerate(_SCRIPTS) if script.match(c)), -1) for c in run[:200]]
        pairs += len(kinds) - 1
        mixed += sum(a != b for a, b in zip(kinds, kinds[1:], strict=False))
    return pairs >= _LEAST_PAIRS and mixed > _HIGHEST_MIXED_SHARE * pairs


def _is_shifted(text: str) -> bool:
    """Whether Latin letters stand for others: hardly a vowel and not one everyday word."""
    letters = re.sub(r"[^A-Za-z]", "", text)
    if len(letters) < _LEAST_LETTERS or len(letters) < 0.5 * len(_SPACE.sub("", text)):
        return False
    vowels = len(re.findall(r"[aeiouyAEIOUY]", letters))
    return vowels < _LOWEST_VOWEL_SHARE * len(letters) and not _WORDS.search(text)
