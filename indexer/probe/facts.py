"""Facts to plant: seeded sentences in English and Chinese, each with the question that asks for it."""

from __future__ import annotations

import random
from dataclasses import dataclass

LANGUAGES = ("en", "zh")

_ENGLISH = (
    ("The key to the {place} boathouse hangs behind the {thing} clock.", "Where is the key to the {place} boathouse?"),
    ("Aunt {name} left her {thing} collection to the library of {place}.", "Who left a {thing} collection to {place}?"),
    ("The ferry to {place} carries no dogs on {day}s.", "On which day may dogs not travel on the ferry to {place}?"),
    (
        "Captain {name} of the {place} mail boat was born in {number}.",
        "When was the captain of the {place} mail boat born?",
    ),
    ("The password of the {place} observatory is {number}.", "What is the password of the {place} observatory?"),
    ("The baker in {place} puts {thing} into the Sunday bread.", "What does the baker in {place} put into the bread?"),
    (
        "Professor {name} proved that the bells of {place} are cast from {thing}.",
        "What are the bells of {place} cast from?",
    ),
    ("The oldest pear tree of {place} was planted in {number}.", "When was the oldest pear tree of {place} planted?"),
)
_CHINESE = (
    ("{place}船屋的钥匙挂在{thing}钟的后面。", "{place}船屋的钥匙在哪里？"),
    ("{name}姑妈把她收藏的{thing}留给了{place}图书馆。", "谁把收藏的{thing}留给了{place}图书馆？"),
    ("开往{place}的渡船在{day}不准带狗。", "哪一天不能带狗乘坐去{place}的渡船？"),
    ("{place}邮船的{name}船长出生于{number}年。", "{place}邮船的船长是哪一年出生的？"),
    ("{place}天文台的口令是{number}。", "{place}天文台的口令是什么？"),
    ("{place}的面包师在星期天的面包里放{thing}。", "{place}的面包师在面包里放什么？"),
    ("{name}教授证明了{place}的钟是用{thing}铸造的。", "{place}的钟是用什么铸造的？"),
    ("{place}最老的梨树是{number}年种下的。", "{place}最老的梨树是哪一年种的？"),
)
_WORDS = {
    "en": {
        "place": "Arlen Borsk Carrow Dunmere Elvaston Farholm Grisby Hatherleigh Innistrand Jorvale Kestermoor Lindow "
        "Marrick Northolme Osmotherby Penwith Quarrington Ravensmoor",
        "name": "Bellweather Crabtree Dimmesdale Fotheringay Grimble Hollister Larkspur Merriweather",
        "thing": "copper amber walnut pewter saffron ivory cinnamon juniper",
        "day": "Monday Tuesday Wednesday Thursday Friday",
    },
    "zh": {
        "place": "青溪 白鹭 石桥 云岭 松涛 柳湾 梅坞 竹山 月牙 星河 鹿鸣 雁荡 枫林 荷塘 杏村 桃源 兰亭 菊坡",
        "name": "欧阳 司徒 上官 慕容 诸葛 端木 皇甫 尉迟",
        "thing": "紫铜 琥珀 胡桃木 锡器 藏红花 象牙 肉桂 杜松子",
        "day": "星期一 星期二 星期三 星期四 星期五",
    },
}


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence to plant and the question whose answer it is."""

    language: str
    sentence: str
    question: str


def make_facts(language: str, count: int, seed: int) -> list[Fact]:
    """``count`` facts of a language, no two of the same kind about the same place; the same seed gives the same facts.

    Raises ValueError beyond the number of different facts there are.
    """
    templates = _CHINESE if language == "zh" else _ENGLISH
    words = {kind: listed.split() for kind, listed in _WORDS[language].items()}
    chooser = random.Random(f"{seed}/{language}")  # not for secrets: the same facts each time are the point
    pairs = [(kind, place) for place in words["place"] for kind in range(len(templates))]
    if count > len(pairs):
        raise ValueError(f"there are {len(pairs)} different facts, not {count}")
    chooser.shuffle(pairs)
    return [_fact(language, templates[kind], place, words, chooser) for kind, place in pairs[:count]]


def _fact(
    language: str, template: tuple[str, str], place: str, words: dict[str, list[str]], chooser: random.Random
) -> Fact:
    values = {
        "place": place,
        "name": chooser.choice(words["name"]),
        "thing": chooser.choice(words["thing"]),
        "day": chooser.choice(words["day"]),
        "number": str(chooser.randrange(1500, 1999)),
    }
    return Fact(language, template[0].format(**values), template[1].format(**values))
