"""Texts of many languages are read in the encodings that their old files are in."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from indexer.parse.encoding import decode_head, detect_encoding

TEXTS = {
    "zh": "本合同自双方签字之日起生效。甲方应当在三十日内支付全部货款，否则乙方有权解除合同，并要求甲方赔偿损失。",
    "zh-Hant": "本合約自雙方簽字之日起生效。甲方應當在三十日內支付全部貨款，否則乙方有權解除合約，並要求甲方賠償損失。",
    "ja": "この契約は、双方が署名した日から効力を生じます。買主は三十日以内に代金を支払わなければなりません。",
    "ko": "이 계약은 양 당사자가 서명한 날부터 효력이 발생한다. 매수인은 삼십일 이내에 대금을 지급하여야 한다.",
    "ru": "Настоящий договор вступает в силу со дня его подписания сторонами. Покупатель обязан оплатить товар.",
    "el": "Η παρούσα σύμβαση τίθεται σε ισχύ από την ημέρα της υπογραφής της. Ο αγοραστής οφείλει να πληρώσει.",
    "he": "הסכם זה ייכנס לתוקף ביום חתימתו על ידי הצדדים. הקונה חייב לשלם את מלוא התמורה תוך שלושים יום.",
    "ar": "يسري هذا العقد من تاريخ توقيعه من قبل الطرفين. يجب على المشتري دفع الثمن خلال ثلاثين يوما.",
    "th": "สัญญานี้มีผลบังคับใช้ตั้งแต่วันที่ลงนาม ผู้ซื้อต้องชำระเงินภายในสามสิบวัน",
    "tr": "Bu sözleşme ile tarafların imzaladığı gün yürürlüğe girer ve alıcı bedeli otuz gün içinde öder.",
    "fr": "Le présent contrat prend effet à la date de sa signature. L’acheteur doit payer après la réception.",
    "de": "Der Käufer muß die Ware über dreißig Tage prüfen; für Mängel haftet der Verkäufer.",
    "pl": "Później umowa wchodzi w życie z dniem jej podpisania. Kupujący zapłaci należność w ciągu trzydziestu dni.",
    "vi": "Hợp đồng này có hiệu lực kể từ ngày ký. Người mua phải thanh toán trong vòng ba mươi ngày.",
}


@pytest.mark.parametrize(
    ("language", "codec"),
    [
        ("zh", "gbk"),
        ("zh", "gb18030"),
        ("zh", "hz"),
        ("zh-Hant", "big5"),
        ("ja", "shift_jis"),
        ("ja", "euc_jp"),
        ("ja", "iso2022_jp"),
        ("ko", "euc_kr"),
        ("ko", "johab"),
        ("ko", "iso2022_kr"),
        ("ru", "cp1251"),
        ("ru", "koi8_r"),
        ("ru", "cp866"),
        ("ru", "iso8859_5"),
        ("el", "iso8859_7"),
        ("el", "cp1253"),
        ("he", "cp1255"),
        ("ar", "cp1256"),
        ("ar", "iso8859_6"),
        ("th", "cp874"),
        ("tr", "cp1254"),
        ("fr", "cp1252"),
        ("fr", "cp850"),
        ("fr", "mac_roman"),
        ("de", "iso8859_1"),
        ("pl", "cp1250"),
        ("pl", "iso8859_2"),
    ],
)
def test_a_text_is_read_in_its_encoding(language: str, codec: str) -> None:
    text = TEXTS[language].replace("’", "'") if codec in ("cp850",) else TEXTS[language]
    assert decode_head(text.encode(codec)) == text


def test_old_vietnamese_and_taiwanese_have_codecs_of_ours() -> None:
    assert b"\xb8\xb5 \xa8n".decode("tcvn") == "áà ăn"
    assert b"\xc4\xe3 A".decode("euc_tw") == "中 A"


def test_a_text_cut_within_a_character_is_still_utf8() -> None:
    assert detect_encoding(TEXTS["zh"].encode()[:-1]) == "utf-8"


def test_a_few_damaged_bytes_do_not_make_it_another_encoding() -> None:
    assert detect_encoding(TEXTS["zh"].encode() * 5 + b"\xff" + TEXTS["zh"].encode()) == "utf-8"


def test_a_declaration_is_believed_when_it_is_true() -> None:
    page = '<?xml version="1.0" encoding="KOI8-R"?><p>Да</p>'.encode("koi8_r")
    assert detect_encoding(page) == "koi8-r"
    assert detect_encoding(page.replace(b"KOI8-R", b"nonsense")) is not None


def test_binary_is_no_text() -> None:
    assert detect_encoding(bytes(range(256)) * 20) is None


@given(st.binary(max_size=400))
def test_no_bytes_raise(data: bytes) -> None:
    decode_head(data)
