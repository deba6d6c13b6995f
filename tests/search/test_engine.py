from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from indexer.datatypes import Mode, SearchResult
from indexer.errors import DocumentNotFoundError, QueryError
from indexer.library import Library
from indexer.search import Grouping, SearchOptions, more_like, neighbours, search_library as search
from tests.search.shelf import fill, new_library, put

FILLER = [
    "The canteen opens at noon and serves soup with bread.",
    "Bicycles are kept in the yard behind the workshop.",
    "The annual meeting of the choir took place in the town hall.",
    "Rain fell on nine days in April and on twelve in May.",
    "食堂中午开门，供应汤和面包。",
    "自行车停放在车间后面的院子里。",
]
TEXTS = {
    "/shelf/supply.txt": "# Penalties\nThe supplier pays a penalty for late delivery of pump PPR-9087 under § 4.2(b). "
    "The penalty is one percent a week. " + "The goods are packed in wooden boxes. " * 12,
    "/shelf/manual.txt": "# Maintenance\nThe pump is greased every month. The valve R123-78 is replaced by a mechanic. "
    "Herr Müller is responsible for the Große Straße site. " + "The handle is turned clockwise. " * 12,
    "/shelf/合同.txt": "供应商迟交货物时须支付违约金。违约金为每周百分之一。" + "货物装在木箱里。" * 12,
    "/shelf/報告.txt": "臺灣的資料庫儲存所有的量測結果。" + "每天都要檢查儀器。" * 12,
    "/shelf/draft.txt": "A draft of the letter about late delivery to the customer in Lindqvist street.",
    **{f"/shelf/filler{number}.txt": text for number, text in enumerate(FILLER)},
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with new_library(tmp_path_factory.mktemp("library")) as library:
        fill(library, TEXTS)
        yield library


def paths(result: SearchResult) -> list[str]:
    return [hit.document.paths[0] for hit in result.hits]


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.LEXICAL])
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("penalty for late delivery", "/shelf/supply.txt"),
        ("PPR-9087", "/shelf/supply.txt"),
        ("ppr 9087", "/shelf/supply.txt"),
        ("§4.2(b)", "/shelf/supply.txt"),
        ("R123-78", "/shelf/manual.txt"),
        ("MUELLER", "/shelf/manual.txt"),
        ("grosse strasse", "/shelf/manual.txt"),
        ("违约金", "/shelf/合同.txt"),
        ("違約金", "/shelf/合同.txt"),
        ("台湾的资料库", "/shelf/報告.txt"),
        ("貨物", "/shelf/合同.txt"),
    ],
)
def test_the_right_document_comes_first(library: Library, mode: Mode, query: str, first: str) -> None:
    assert paths(search(library, query, SearchOptions(mode=mode)))[0] == first


def test_a_hit_can_be_understood(library: Library) -> None:
    hit = search(library, "penalty for late delivery").hits[0]
    assert hit.rank == 1
    assert hit.text == library.store.text(hit.document.id, hit.span)
    assert {span.of(hit.text).lower() for span in hit.highlights} >= {"penalty", "late", "delivery"}
    assert hit.sentence is not None
    assert hit.sentence.of(hit.text).strip().startswith(("# Penalties", "The supplier"))
    assert hit.page == 1
    assert hit.page_label == "i"
    assert hit.headings == ("Penalties",)
    assert hit.why.dense is not None
    assert hit.why.lexical is not None
    assert hit.score == pytest.approx(hit.why.dense + hit.why.lexical, abs=1e-4)


def test_chinese_words_are_marked_as_they_stand_in_the_text(library: Library) -> None:
    hit = search(library, "台湾资料库").hits[0]
    assert "".join(span.of(hit.text) for span in hit.highlights) == "臺灣資料庫"


def test_quoted_words_must_stand_together(library: Library) -> None:
    assert set(paths(search(library, '"late delivery"'))) == {"/shelf/supply.txt", "/shelf/draft.txt"}
    missing = search(library, '"delivery late"')
    assert any("delivery late" in warning for warning in missing.warnings)
    assert paths(missing)
    assert paths(search(library, '"支付违约金"')) == ["/shelf/合同.txt"]


def test_excluded_words_leave_documents_out(library: Library) -> None:
    assert "/shelf/draft.txt" in paths(search(library, "late delivery"))
    assert "/shelf/draft.txt" not in paths(search(library, "late delivery -draft"))
    assert "/shelf/合同.txt" not in paths(search(library, "货物 -违约金"))
    assert "/shelf/draft.txt" not in paths(search(library, "late delivery -title:draft"))


def test_a_word_that_a_long_document_has_once_excludes_that_passage_only(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with new_library(tmp_path_factory.mktemp("book")) as library:
        chapter = "The lighthouse keeper wrote of the sea and of the lamp that he had to clean again. " * 30
        fill(library, {"/book.txt": chapter + "One night the lamp broke in a storm. " + chapter} | TEXTS)
        for by in Grouping:
            hits = search(library, "lamp of the lighthouse -storm", SearchOptions(by=by)).hits
            assert hits[0].document.paths == ("/book.txt",)
            assert all("storm" not in hit.text for shown in hits for hit in (shown, *shown.others))


def test_fields_and_filters_choose_documents(library: Library) -> None:
    assert set(paths(search(library, "delivery title:draft"))) == {"/shelf/draft.txt"}
    chinese = {"/shelf/合同.txt", "/shelf/報告.txt", "/shelf/filler4.txt", "/shelf/filler5.txt"}
    assert set(paths(search(library, "delivery lang:zh"))) <= chinese
    assert set(paths(search(library, "delivery", SearchOptions(where=("language=zh",))))) <= chinese
    with pytest.raises(QueryError, match="colour"):
        search(library, "delivery", SearchOptions(where=("colour=red",)))


def test_the_name_of_a_file_is_the_title_of_a_document_without_one(library: Library) -> None:
    untitled = put(library, "/Verträge/miete_2024.txt", "Das Lager wird für zwei Jahre vermietet.", title="")
    try:
        for query in ("Lager title:miete_2024", "Lager title:MIETE"):
            assert paths(search(library, query)) == ["/Verträge/miete_2024.txt"]
        assert not paths(search(library, "Lager title:Verträge"))
        assert "/Verträge/miete_2024.txt" not in paths(search(library, "Lager vermietet -title:miete"))
    finally:
        library.store.remove_document(untitled)


def test_documents_without_a_date_are_said_to_be_left_out(library: Library) -> None:
    dated = put(library, "/dated.txt", "The delivery of May was late.", modified="2024-05-06")
    try:
        result = search(library, "delivery after:2024")
        assert paths(result) == ["/dated.txt"]
        assert f"{len(TEXTS)} documents without a date were left out." in result.warnings
        assert not any("without a date" in warning for warning in search(library, "delivery lang:en").warnings)
    finally:
        library.store.remove_document(dated)


@pytest.mark.parametrize("query", ["late delivery lang:zh", "迟交 lang:en"])
def test_a_filter_for_another_language_looks_across(library: Library, query: str) -> None:
    result = search(library, query)
    assert result.mode is Mode.DENSE
    assert result.hits
    assert search(library, query, SearchOptions(mode=Mode.LEXICAL)).mode is Mode.LEXICAL


def test_small_words_are_not_marked(library: Library) -> None:
    german = put(library, "/wartung.txt", "Die Wartung hat die Firma Huber im Mai durchgeführt.", language="de")
    try:
        hit = search(library, "Wer hat die Wartung durchgeführt", SearchOptions(document=german)).hits[0]
        assert [span.of(hit.text) for span in hit.highlights] == ["Wartung", "durchgeführt"]
    finally:
        library.store.remove_document(german)


def test_a_typing_error_is_forgiven_only_where_nothing_matches(library: Library) -> None:
    result = search(library, "Lindqvst street", SearchOptions(mode=Mode.LEXICAL))
    assert paths(result)[0] == "/shelf/draft.txt"
    assert any("lindqvist" in warning for warning in result.warnings)
    assert not search(library, "penalty").warnings


def test_one_document_does_not_fill_the_list(library: Library) -> None:
    result = search(library, "the goods are packed in wooden boxes", SearchOptions(k=5))
    assert len(set(paths(result))) == len(result.hits) == 5
    by_chunk = search(library, "the goods are packed in wooden boxes", SearchOptions(k=5, by=Grouping.CHUNK))
    assert len(by_chunk.hits) == 5


def test_nearly_the_same_hits_are_folded(tmp_path_factory: pytest.TempPathFactory) -> None:
    with new_library(tmp_path_factory.mktemp("copies")) as library:
        text = (
            "The rent is {} euro a month and is paid on the third working day of each month by the tenant of the flat."
        )
        fill(library, {f"/v{number}.txt": text.format(number) for number in (800, 820, 840)} | TEXTS)
        result = search(library, "what is the rent of the flat")
        assert result.hits[0].document.paths[0].startswith("/v8")
        assert len(result.hits[0].copies) == 2
        assert not any(path.startswith("/v8") for path in paths(result)[1:])
        unfolded = search(library, "what is the rent of the flat", SearchOptions(fold_copies=False))
        assert sum(path.startswith("/v8") for path in paths(unfolded)) == 3


@pytest.mark.parametrize("query", ["", "   ", "?!", "😀", '"', "-draft", "-", '""'])
def test_what_asks_for_nothing_gets_a_sentence(library: Library, query: str) -> None:
    result = search(library, query)
    assert not result.hits
    assert not result.relevant
    assert len(result.warnings) == 1


def test_an_empty_library_says_what_to_do(tmp_path_factory: pytest.TempPathFactory) -> None:
    with new_library(tmp_path_factory.mktemp("empty")) as library:
        assert "longdoc add" in search(library, "anything").warnings[0]


def test_a_library_of_one_short_document_works(tmp_path_factory: pytest.TempPathFactory) -> None:
    with new_library(tmp_path_factory.mktemp("one")) as library:
        fill(library, {"/one.txt": "The only note there is."})
        for mode in Mode:
            assert paths(search(library, "note", SearchOptions(mode=mode))) == ["/one.txt"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=200), st.sampled_from(list(Mode)), st.sampled_from(list(Grouping)))
def test_no_query_text_raises(library: Library, query: str, mode: Mode, by: Grouping) -> None:
    result = search(library, query, SearchOptions(mode=mode, by=by))
    assert [hit.rank for hit in result.hits] == list(range(1, len(result.hits) + 1))
    for hit in result.hits:
        assert all(0 <= span.start < span.end <= len(hit.text) for span in hit.highlights)


PIECES = (
    *('"', "-", "−", "title:", "path:", "lang:zh", "tag:", "type:pdf", "before:2024", "after:2023-02-31", ":", "§"),
    *("AND", "OR", "NOT", "NEAR(", ")", "*", "^", "{", "late", "delivery", "PPR-9087", "违约金", "貨物", "🙂", " "),
    *("مرحبا", "שלום", "\u202e", "\u200b", "\x00", "\n", "ｌａｔｅ", "Große"),
)
OPERATORS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OPERATORS)
def test_no_heap_of_operators_raises(library: Library, query: str) -> None:
    result = search(library, query)
    assert result.hits or result.warnings


@pytest.mark.parametrize(
    "query",
    [
        "x" * 10_000,
        "late delivery " * 700,
        "违约金。" * 2000,
        "\x00\ud800",
        "AND OR NOT",
        "NEAR(a b)",
        "a" * 400 + '"',
        '"' * 10_000,
        "🙂" * 2000,
        "مرحبا بالعالم \u202e שלום " * 100,
        "a-" * 50_000,
    ],
)
def test_absurd_queries_are_answered(library: Library, query: str) -> None:
    search(library, query)


@pytest.mark.parametrize("sentence", ["Page {0} speaks of item{0} and of delivery. ", "第{0}页讲到第{0}件货物的交货。"])
def test_a_hundred_pasted_pages_cost_no_more_than_one(
    library: Library, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    counts = library.store.term_counts

    def counted(terms: Collection[str]) -> dict[str, int]:
        asked.append(len(terms))
        return counts(terms)

    monkeypatch.setattr(library.store, "term_counts", counted)
    assert search(library, "".join(sentence.format(number) for number in range(10_000))).hits
    assert asked
    assert max(asked) < 1000


def test_a_pasted_page_finds_its_document(library: Library) -> None:
    page = TEXTS["/shelf/supply.txt"].replace("penalty", "fine") + " Further remarks were made by all sides. " * 20
    assert paths(search(library, page))[0] == "/shelf/supply.txt"


def test_more_like_a_chunk_or_document_leaves_itself_out(library: Library) -> None:
    document = search(library, "late delivery letter", SearchOptions(k=1)).hits[0]
    for given_ in ({"chunk_id": document.chunk_id}, {"document_id": document.document.id}):
        result = more_like(library, **given_)
        assert result.hits
        assert document.document.id not in {hit.document.id for hit in result.hits}
    with pytest.raises(DocumentNotFoundError):
        more_like(library, document_id=10_000)


def test_examples_move_a_search(library: Library) -> None:
    liked = search(library, "greased valve", SearchOptions(k=1)).hits[0]
    options = SearchOptions(mode=Mode.DENSE, more=(liked.chunk_id,))
    before = search(library, "town", SearchOptions(mode=Mode.DENSE))
    after = search(library, "town", options)
    place = {path: rank for rank, path in enumerate(paths(before))}
    assert paths(after).index(liked.document.paths[0]) <= place[liked.document.paths[0]]
    assert paths(after) != paths(before)


def test_searching_inside_one_document(library: Library) -> None:
    document = search(library, "supplier penalty").hits[0].document.id
    result = search(library, "boxes", SearchOptions(document=document, by=Grouping.CHUNK, k=50))
    assert {hit.document.id for hit in result.hits} == {document}


def test_neighbours_are_in_reading_order(library: Library) -> None:
    hit = search(library, "wooden boxes").hits[0]
    around = neighbours(library, hit.chunk_id, before=50, after=50)
    assert [stored.chunk.position for stored in around] == list(range(len(around)))
    assert "".join(stored.chunk.text for stored in around) == library.store.text(hit.document.id)
    with pytest.raises(DocumentNotFoundError):
        neighbours(library, 10**9)


def test_what_a_writer_removes_meanwhile_is_there_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "/one.txt": "The pump is greased. " * 30,
        "/two.txt": "Grease for the pump. " * 30,
        "/three.txt": "Rain fell.",
    }
    with new_library(tmp_path) as writer:
        ids = fill(writer, texts)
        with Library.open(tmp_path, writer.settings, encoder=writer.encoder) as reader:
            passage = int(reader.store.chunk_ids([ids["/one.txt"]])[0])
            expected = [stored.id for stored in neighbours(reader, passage, before=9, after=9)]

            def removing(name: str, path: str) -> None:
                read = getattr(reader.store, name)

                def removed(*asked: Any) -> Any:
                    found = read(*asked)
                    if writer.store.chunk_ids([ids[path]]).size:
                        writer.store.remove_document(ids[path])
                    return found

                monkeypatch.setattr(reader.store, name, removed)

            removing("chunk_owner", "/two.txt")
            assert paths(more_like(reader, chunk_id=passage))[0] == "/two.txt"
            removing("chunks", "/one.txt")
            assert [stored.id for stored in neighbours(reader, passage, before=9, after=9)] == expected
            with pytest.raises(DocumentNotFoundError):
                neighbours(reader, passage)


def test_unread_documents_are_mentioned(tmp_path_factory: pytest.TempPathFactory) -> None:
    from indexer.datatypes import Document, Status
    from indexer.store import FoundFile

    with new_library(tmp_path_factory.mktemp("unread")) as library:
        put(library, "/one.txt", "The only note there is.")
        library.store.record_failure(Document("application/pdf", Status.NEEDS_OCR), FoundFile("/scan.pdf", 1, 0))
        assert "1 scanned without text" in " ".join(search(library, "note").warnings)


def test_the_same_search_gives_the_same_hits(library: Library) -> None:
    one, other = (search(library, "late delivery") for _ in range(2))
    assert [(hit.chunk_id, hit.score) for hit in one.hits] == [(hit.chunk_id, hit.score) for hit in other.hits]
    assert np.isfinite([hit.score for hit in one.hits]).all()
