"""Text layers that nobody can read are told from those that are merely unusual."""

from __future__ import annotations

import pytest

from indexer.parse.quality import bad_share, is_garbage


@pytest.mark.parametrize(
    "text",
    [
        "\x01\x02\x03\x04 \x05\x06",
        "\ufffd\ufffd\ufffd of",
        "\ue001\ue002\ue003\ue004",
        "ϸЇΰԊѓЖΩב ՍϞ֓ΣÔ͟ĮǎΣϋÆΣ ϙϭɻϣƐϋͣϳЃ",
        "⤶اِ㩈ຝ䆀ط 㦇اورǎǔƼ䆀ឮຕ䜫ᜯ石ᄹⰰẍ䆀 ⠪୺䯎ⴑ",
        "3HQtSURVWHGNQDDåQtSURVWHGN\\DMHMLFKHNYLYDOHQW\\ VHSRYDåXMtKRWRYRVW " * 5,
    ],
)
def test_garbage_is_known(text: str) -> None:
    assert is_garbage(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The pump runs at 50 Hz.",
        "pre\ufffecisely what a hyphen at a line's end looks like",
        "日本語のテキストとEnglishとカタカナ。",
        "شروط العقد 中文 и русский текст, Ελληνικά",
        "Zażółć gęślą jaźń, příliš žluťoučký kůň",
        "PX-12 TRF 4711 RPM KW HZ " * 30 + "the parts",
        "• one \uf0b7 two \uf0b7 three",
        "ｶﾀｶﾅ と 한국어 와 ไทย",
    ],
)
def test_unusual_text_is_not_garbage(text: str) -> None:
    assert not is_garbage(text)


def test_the_share_counts_visible_characters() -> None:
    assert bad_share("a \ufffd\n") == 0.5
