"""Tells a text layer from garbage: replacement, private-use, control and unassigned characters."""

from __future__ import annotations

import re

_BAD = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\ufffc\ue000-\uf0a6\uf0a8-\uf0b6\uf0b8-\uf8ff\U000f0000-\U0010ffff\ud800-\udfff]"
)
_SPACE = re.compile(r"\s+")
_HIGHEST_BAD_SHARE = 0.25


def bad_share(text: str) -> float:
    """The share of visible characters that no person can have written, 0 to 1."""
    visible = _SPACE.sub("", text)
    return len(_BAD.findall(visible)) / len(visible) if visible else 0.0


def is_garbage(text: str) -> bool:
    """Whether a text layer is of no use: the font says nothing about which characters its glyphs are."""
    return bad_share(text.replace("\x02", "").replace("\ufffe", "")) > _HIGHEST_BAD_SHARE
