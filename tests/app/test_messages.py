"""The engine's sentences in Chinese: those that the pages can show have a template, and templates find their values."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import indexer
from app import messages
from app.messages import CHINESE, in_chinese
from indexer.doctor.machine import memory_finding
from indexer.search.advice import unread_warning
from tests.app.conftest import html_of

ENGINE = Path(indexer.__file__).parent
SHOWN = [
    "clusters/build.py", "clusters/partition.py", "doctor/engine.py", "doctor/keeping.py", "doctor/machine.py",
    "duplicates/groups.py", "encode/convert.py", "encode/load.py", "encode/reference.py",
    "ingest/failing.py", "ingest/plan.py", "ingest/reading.py", "ingest/run.py", "ingest/scan.py", "ingest/sources.py",
    "library.py", "lock.py", "parse/containers.py", "parse/conversion.py", "parse/drawing.py", "parse/extract.py",
    "parse/ledger.py", "parse/model.py", "parse/packages.py", "parse/pdf_file.py", "parse/process.py",
    "parse/registry.py", "parse/sandbox.py", "parse/viewing.py", "recipes.py", "search/engine.py", "search/options.py",
    "search/advice.py", "search/scope.py", "search/spelling.py", "search/query.py", "store/chunks.py",
    "store/connection.py", "store/keep.py", "store/upkeep.py", "upkeep/verify.py",
    *(f"parse/formats/{path.name}" for path in sorted((ENGINE / "parse" / "formats").glob("*.py"))),
]  # fmt: skip
"""The modules whose sentences the pages show: reasons, warnings, findings and errors on the way of a page or a job."""
NOT_SENTENCES = re.compile(
    r"(?s).*(?:docx, xlsx"
    r"|[A-Z]{5,} |\\[sdwb]| \| |[（。]|gz, bz2|png, jpg|the extra|script style|address article|area base"
    r"|untitled|Callable| [=>] \?|VACUUM|SQLite format|snapshot|%s|decode to UTF-8|text that is not UTF).*"
)
"""SQL, patterns, samples and notes to programmers."""
NOT_SHOWN = re.compile(
    r"(?s).*(?:torch|Torch|CUDA|OpenMP|OMP_NUM_THREADS|LONGDOC_THREADS|aside|network|sockets|doctor`"
    r"|tried to reach|built for|either a document|onverted encoder|converted from|converting the encoder"
    r"|pip install|is not a backup|restored"
    r"|written by a newer longdoc \(schema \{\}\): |parts come|a document ends|what is searchable|a frame is).*"
)
"""Said on the command line alone: the doctor's proof and versions, the conversion of weights, backups."""
GLUED = {
    "document without a date was", "documents without a date were", "{} {} left out.",
    ", sharing windows of {} tokens", "{} {}, chunks of {} tokens{}",
    "{}, at {}", ", limited to {} GiB", ", no limit", "{} GiB, {} GiB free", ", no quota", ", quota {} cores",
    "{} cores, {} hardware threads, {} allowed to this process", "; set by hand: {}", " (--ocr auto reads it)",
    " (install longdoc[ocr] to have it read)", "{} of {} s", "{} {} not searched because nothing could be read ({}).",
    "{} {} searched only in part: some pages could not be read.", "scanned without text", "locked by a password",
    "of an unknown kind", "too slow to read", " and ", "{}, {} threads, batches of {} tokens, ",
    " What follows is the nearest there is.", " Its documents are kept; `longdoc remove` removes them.",
}  # fmt: skip
"""Parts of sentences whose wholes have a template, and are tried as wholes below."""


def sentences(path: Path) -> Iterator[str]:
    """Every text of three words or more in a module, with {} for what is filled in; docstrings are left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        id(part)
        for node in ast.walk(tree)
        for part in (
            [node.value] if isinstance(node, ast.Expr) else node.values if isinstance(node, ast.JoinedStr) else []
        )
    }
    for node in ast.walk(tree):
        if id(node) in inside or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
        if text.count(" ") >= 2 and re.search("[a-z]{2}", text):
            yield text


@pytest.mark.parametrize("module", SHOWN)
def test_what_the_engine_says_to_people_has_a_translation(module):
    passed_over = (NOT_SENTENCES, NOT_SHOWN)
    said = {text for text in sentences(ENGINE / module) if not any(kind.fullmatch(text) for kind in passed_over)}
    tried = {text: text.replace("{}", "7") for text in said - GLUED}
    assert sorted(text for text, filled in tried.items() if in_chinese(filled) == filled) == []


@pytest.mark.parametrize(
    "whole",
    [
        memory_finding(8 << 30, 4 << 30, None).text,
        memory_finding(8 << 30, 4 << 30, 6 << 30).text,
        "4 cores, 8 hardware threads, 8 allowed to this process, no quota",
        "e5-small f15fe7bfb036, chunks of 192 tokens, sharing windows of 8192 tokens",
        "e5-small f15fe7bfb036, chunks of 192 tokens",
        "1 document without a date was left out.",
        "2 documents without a date were left out.",
        "12 documents, 338 chunks, schema 2, at /srv/library",
        "a picture of a page without a text layer (install longdoc[ocr] to have it read)",
        "its text layer is unreadable: the fonts do not say which characters they show (--ocr auto reads it)",
        "float32, 2 threads, batches of 2048 tokens, 685 tokens a second when measured on 2026-11-30; bfloat16 "
        "refused: it takes 2.3 times as long as float32 on this processor; int8 refused: it is slower than float32",
        "its name has the latest date (2025); the longest",
        "Nothing relevant was found. What follows is the nearest there is.",
        "There is no file or folder /x. Its documents are kept; `longdoc remove` removes them.",
        *unread_warning({"needs_ocr": 1, "encrypted": 2, "unsupported": 1, "timed_out": 1, "failed": 3, "partial": 1}),
        *unread_warning({"empty": 1, "partial": 2}),
    ],
)
def test_sentences_put_together_are_wholly_chinese(whole):
    assert not re.search(r"[a-z]{4,} [a-z]{3,}", in_chinese(whole).replace("longdoc remove", ""))


def test_values_are_put_where_the_chinese_wants_them():
    assert in_chinese("3 of 20 pages could not be read: the page is damaged") == "20 页中有 3 页无法读取：页面已损坏"


def test_several_things_said_at_once_are_translated_one_by_one():
    assert in_chinese("it is slower than float32; the page is damaged") == "比 float32 慢；页面已损坏"
    counts = "3 documents were not searched because nothing could be read (1 damaged, 2 scanned without text)."
    assert in_chinese(counts) == "有 3 篇文档因无法读取而未被搜索（1 篇已损坏，2 篇为无文字的扫描件）。"


def test_what_has_no_translation_stays_as_it_is():
    assert in_chinese("Something quite new; and more of it.") == "Something quite new; and more of it."
    assert in_chinese("") == ""


def test_the_chinese_pages_say_the_engine_s_sentences_in_chinese(open_page, library):
    assert "因无法读取而未被搜索" in html_of(open_page(q="valve", lang="zh"))
    health = open_page("health")
    health.query_params["lang"] = "zh"
    assert "PDF 已损坏或不完整" in html_of(health.run())


def test_advice_that_is_said_otherwise_on_a_page_is_the_engine_s():
    assert messages._HERE.keys() <= tomllib.loads(CHINESE.read_text(encoding="utf-8")).keys()
