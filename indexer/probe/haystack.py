"""Long texts with planted facts, made from blocks of a background in the same language."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from indexer.probe.facts import LANGUAGES, Fact, make_facts

_BLOCK = 1500
_LONGEST_BLOCK = 20_000
_ROOM = 2000


@dataclass(frozen=True, slots=True)
class Needle:
    """A planted fact: in which document, of which length, how deep (0 the beginning, 1 the end)."""

    fact: Fact
    document: str
    length: int
    depth: float


@dataclass(frozen=True, slots=True)
class Haystack:
    """A long text, by the name of the file it will be read from, with its needles."""

    name: str
    text: str
    needles: tuple[Needle, ...]


def make_haystacks(
    backgrounds: dict[str, str], lengths: Sequence[int], depths: Sequence[float], seed: int
) -> list[Haystack]:
    """A text for each language and length that holds a needle at every depth, or several where a text is too short.

    A short text holds few needles, so that it stays a haystack: one for each 2,000 characters, at least one.
    """
    result = []
    for language in LANGUAGES:
        if language not in backgrounds:
            continue
        facts = iter(make_facts(language, len(lengths) * len(depths), seed))
        for length in lengths:
            group = max(1, min(len(depths), length // _ROOM))
            for first in range(0, len(depths), group):
                name = f"{language}-{length}-{first}.txt"
                planted = [Needle(next(facts), name, length, depth) for depth in depths[first : first + group]]
                text = background_text(backgrounds[language], length, f"{seed}/{name}")
                result.append(Haystack(name, plant(text, planted, language), tuple(planted)))
    return result


def background_text(background: str, length: int, seed: str) -> str:
    """``length`` characters in blocks of the background, in a seeded order, all of it used before any is repeated.

    Long texts have longer blocks: what is repeated then has mostly the same chunks, which are encoded once.
    """
    blocks = split_blocks(background, min(max(_BLOCK, length // 50), _LONGEST_BLOCK))
    chooser = random.Random(seed)  # not for secrets: the same texts each time are the point
    pieces: list[str] = []
    have = 0
    while have < length:
        chooser.shuffle(blocks)
        for block in blocks:
            pieces.append(block)
            have += len(block) + 2
            if have >= length:
                break
    return "\n\n".join(pieces)[:length]


def split_blocks(text: str, wanted: int = _BLOCK) -> list[str]:
    """Whole paragraphs put together to about so many characters."""
    blocks: list[str] = []
    current: list[str] = []
    size = 0
    for paragraph in filter(None, (part.strip() for part in text.split("\n"))):
        current.append(paragraph)
        size += len(paragraph)
        if size >= wanted:
            blocks.append("\n".join(current))
            current, size = [], 0
    if current:
        blocks.append("\n".join(current))
    return blocks


def plant(text: str, needles: Sequence[Needle], language: str) -> str:
    """Put each needle's sentence at the first end of a sentence at or after its depth."""
    ends = "。！？\n" if language == "zh" else ".!?\n"
    pieces: list[str] = []
    begin = 0
    for needle in sorted(needles, key=lambda needle: needle.depth):
        wanted = max(int(len(text) * needle.depth), begin)
        at = next((i + 1 for i in range(wanted, len(text)) if text[i] in ends), len(text)) if wanted else 0
        pieces += [
            text[begin:at],
            " " if language == "en" else "",
            needle.fact.sentence,
            " " if language == "en" else "",
        ]
        begin = at
    return "".join([*pieces, text[begin:]])
