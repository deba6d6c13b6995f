import re
from pathlib import Path
from string import Formatter

import pytest

import app
from app.texts import TEXTS, Language, text

SOURCES = [path.read_text(encoding="utf-8") for path in Path(app.__file__).parent.rglob("*.py")]


def fields(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}


@pytest.mark.parametrize("key", TEXTS)
def test_both_languages_say_it_with_the_same_values(key):
    english, chinese = TEXTS[key]
    assert english.strip()
    assert chinese.strip()
    assert fields(english) == fields(chinese)


def test_every_key_that_the_pages_say_exists():
    said = {key for source in SOURCES for key in re.findall(r'\b(?:say|text)\(\s*"([a-z_.]+)"', source)}
    assert said
    assert said <= set(TEXTS)


def test_the_browser_s_locale_chooses_the_language():
    assert Language.best_for("zh-TW") is Language.CHINESE
    assert Language.best_for("de-DE") is Language.ENGLISH
    assert Language.best_for(None) is Language.ENGLISH


def test_values_are_filled_in():
    assert text("search.page", Language.ENGLISH, page=3) == "page 3"
    assert text("search.page", Language.CHINESE, page=3) == "第 3 页"


def test_one_has_a_sentence_of_its_own():
    assert text("document.pages", Language.ENGLISH, count=1) == "1 page"
    assert text("search.found", Language.ENGLISH, count="1", seconds="0.2") == "1 document, 0.2 s"
    assert text("document.pages", Language.ENGLISH, count=21) == "21 pages"
    assert {key.removesuffix("_one") for key in TEXTS if key.endswith("_one")} <= set(TEXTS)
