"""Tells the legacy character sets apart by what their texts say when decoded: the most frequent characters decide.

A text decoded with the wrong set consists of rare characters; with the right one a third or more of it are the few
dozen characters that every text of the language is full of.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_HANS = (
    "的一是不了在人有我他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里所去行过家十用发天如然作方成者"
    "多日都三小军二无同么经法当起与好看学进种将还分此心前面又定见只主没公从第条合文本部高理业工应关系统及等，。、：；“”《》（）"
)
_HANT = (
    "的一是不了在人有我他這為之大來以個中上們到說國和地也子時道出而要於就下得可你年生自會那後能對著事其裡所去行過家十用發天如然作方成者"
    "多日都三小軍二無同麼經法當起與好看學進種將還分此心前面又定見只主沒公從第條合文本部高理業工應關係統及等，。、：；「」《》（）"
)
_KANA = (
    "のにはをたがでてとしれさいるもなかっすこまりらくんきあうけおせよつどめばちぎじだ"
    "ンスーイアルトラリクシタレ年日月人大一、。「」・ー"
)
_HANGUL = (
    "이다는을의에가고하지은를로한도기사나아자그서대리어있인시수것일해라보정스전부장게들만면제여주오으니안과와상원구"
)


@dataclass(frozen=True, slots=True)
class _Set:
    codec: str
    common: frozenset[str]
    least: float = 0.12


_WIDE_SETS = (
    _Set("gb18030", frozenset(_HANS)),
    _Set("big5hkscs", frozenset(_HANT)),
    _Set("cp932", frozenset(_KANA)),
    _Set("euc_jp", frozenset(_KANA)),
    _Set("cp949", frozenset(_HANGUL)),
    _Set("johab", frozenset(_HANGUL)),
    _Set("euc_tw", frozenset(_HANT)),
)
_NARROW_SETS = (
    _Set("cp1251", frozenset("оеаинтсрвлкмдпуяыьгзбчйхжшіїєў")),
    _Set("koi8_r", frozenset("оеаинтсрвлкмдпуяыьгзбчйхжш")),
    _Set("cp866", frozenset("оеаинтсрвлкмдпуяыьгзбчйхжш")),
    _Set("iso8859_5", frozenset("оеаинтсрвлкмдпуяыьгзбчйхжш")),
    _Set("mac_cyrillic", frozenset("оеаинтсрвлкмдпуяыьгзбчйхжш")),
    _Set("iso8859_7", frozenset("αοιετσνηυρπκμλςωγδθχβάέίόύήώ")),
    _Set("cp1253", frozenset("αοιετσνηυρπκμλςωγδθχβάέίόύήώΆ")),
    _Set("cp1255", frozenset("יוהלאתרמבשנםדעקחפכטסגןזצךץף")),
    _Set("cp1256", frozenset("اليمنرتبةعدسفهكقحجشصطىأإ،")),
    _Set("iso8859_6", frozenset("اليمنرتبةعدسفهكقحجشصطىأإ،")),
    _Set("cp874", frozenset("านรอกเงยลมทวดสตะปบคหจพชขใไโแ่้ัิี")),
)
_LATIN_SETS = (
    _Set("cp1252", frozenset("éèàùâêîôûçëïüöäßñáíóúåæøãõœ")),
    _Set("cp1254", frozenset("ğışçöüâîûéİŞÖÜÇ")),
    _Set("cp1250", frozenset("ąćęłńóśźżčšžřěůáéíúýďťňőűäöüßăşţîâ")),
    _Set("iso8859_2", frozenset("ąćęłńóśźżčšžřěůáéíúýďťňőűäöüßăşţîâ")),
    _Set("cp1257", frozenset("āčēģīķļņšūžąęėįųõäöü")),
    _Set("cp850", frozenset("éèàùâêîôûçëïüöäßñáíóúåæøãõ")),
    _Set("tcvn", frozenset("đàảãáạăằẳẵắặâầẩẫấậèẻẽéẹêềểễếệìỉĩíịòỏõóọôồổỗốộơờởỡớợùủũúụưừửữứựỳỷỹýỵ")),
    _Set("cp1258", frozenset("đăâêôơưàáèéìíòóùú\u0300\u0309\u0303\u0301\u0323")),
    _Set("mac_roman", frozenset("éèàùâêîôûçëïüöäßñáíóúåæøãõœ")),
)
_VIETNAMESE = ("tcvn", "cp1258")
_VIETNAMESE_DENSITY = 0.18
"""More of Vietnamese's letters carry marks than of any other language in Latin letters."""

_MOST_MIXED = 0.4
"""Foreign letters stand beside Latin ones in Latin scripts, beside each other in all the rest."""

_MARKS = frozenset("’‘“”„«»–—…•·°§©®€£´¿¡ºª№\xa0")
_TURKISH = re.compile(r"\b(?:ve|bir|ile|olarak|bu|da|de)\b")


def guess(sample: bytes) -> str | None:
    """The codec of a legacy text in more than ASCII; None when none of the known ones makes sense of it."""
    if (wide := _best_wide(sample)) is not None:
        return wide
    foreign = len(re.findall(rb"[\x80-\xff]", sample))
    mixed = len(re.findall(rb"(?<=[A-Za-z])[\x80-\xff]|[\x80-\xff](?=[A-Za-z])", sample))
    if mixed > _MOST_MIXED * foreign:
        return _best_latin(sample, foreign)
    return _best_alphabet(sample)


def _decoded(sample: bytes, codec: str) -> str:
    try:
        return codecs.getincrementaldecoder(codec)("replace").decode(sample)
    except LookupError:
        return ""


def _best_wide(sample: bytes) -> str | None:
    """Chinese, Japanese and Korean: hardly any wrong code, and many of the most frequent characters."""
    best: tuple[float, str | None] = (0.0, None)
    for candidate in _WIDE_SETS:
        foreign = [c for c in _decoded(sample, candidate.codec) if c > "\x7f"]
        errors = foreign.count("\ufffd")
        if not foreign or errors > 0.01 * len(foreign) + (len(foreign) > 50):
            continue
        share = sum(c in candidate.common for c in foreign) / len(foreign)
        if share >= candidate.least and share > best[0] + 0.01:
            best = (share, candidate.codec)
    return best[1]


def _best_alphabet(sample: bytes) -> str | None:
    """Alphabets other than Latin: nearly every foreign byte is a frequent letter, most of them small ones."""
    best: tuple[float, str | None] = (0.0, None)
    for candidate in _NARROW_SETS:
        foreign = [c for c in _decoded(sample, candidate.codec) if c > "\x7f" and c not in _MARKS]
        if not foreign:
            continue
        share = sum(c.lower() in candidate.common for c in foreign) / len(foreign)
        lower = sum(not c.isupper() for c in foreign) / len(foreign)
        score = share * (0.5 + 0.5 * lower)
        if share >= 0.7 and score > best[0] + 0.002:
            best = (score, candidate.codec)
    return best[1]


def _best_latin(sample: bytes, foreign_count: int) -> str | None:
    """Latin with accents: the frequent accented letters of the languages that the set was made for."""
    best: tuple[float, str | None] = (0.0, None)
    dense = foreign_count > _VIETNAMESE_DENSITY * len(re.findall(rb"[A-Za-z\x80-\xff]", sample))
    for candidate in _LATIN_SETS:
        text = _decoded(sample, candidate.codec)
        turkish = len(_TURKISH.findall(text))
        if (candidate.codec in _VIETNAMESE) > (dense and turkish < 2) or candidate.codec == "cp1254" and not turkish:
            continue
        foreign = [c for c in text if c > "\x7f"]
        good = sum((c.lower() in candidate.common) + (c in _MARKS) for c in foreign)
        shouted = sum(found.isupper() for found in re.findall(r"(?<=[a-z])[^\x00-\x7f]", text))
        score = (good - 0.5 * shouted) / max(len(foreign), 1)
        if score > best[0] + 0.02:
            best = (score, candidate.codec)
    return best[1]
