import pytest

from indexer.datatypes import Document, RunReport, Span, Status, text_hash
from indexer.store import FoundFile, Store
from tests.building import ENCODER, add_text, chunks_of, recipe, write_chunks

FOX = "The quick brown fox jumps over the lazy dog and runs away. " * 40
CHINESE = "向量数据库保存长文档，每一段都有出处。" * 40


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path, recipe()) as opened:
        yield opened


def test_a_document_is_seen_whole_or_not_at_all(store):
    writer = store.begin("00", 10, "text/plain")
    write_chunks(store, writer, chunks_of(FOX))
    assert list(store.documents()) == []
    assert store.lexical("fox", 5) == []
    assert len(store.chunk_ids()) == 0
    assert list(store.iter_embeddings()) == []
    assert store.chunks([1]) == []
    assert store.counts().chunks == 0
    before = store.generation()
    made = writer.finish(Document("text/plain", Status.INDEXED, title="Fox"), None, files=[FoundFile("/a", 1, 1)])
    assert store.generation() > before
    assert [document.id for document in store.documents()] == [made]
    assert store.document(made).chunk_count == len(store.chunk_ids()) == len(chunks_of(FOX))
    assert store.text(made) == FOX
    assert [chunk.chunk for chunk in store.document_chunks(made)] == chunks_of(FOX)
    assert store.lexical("fox", 500)


def test_text_crosses_block_borders(store):
    text = "".join(f"{number:07d}好" for number in range(5000))
    made = add_text(store, text, size=333)
    assert store.text(made) == text
    for start in (0, 8180, 8192, 16383, 39990):
        assert store.text(made, Span(start, start + 20)) == text[start : start + 20]


def test_chunks_out_of_order_are_refused_and_leave_nothing(store):
    writer = store.begin("00", 10, "text/plain")
    chunks = chunks_of(FOX)
    with pytest.raises(ValueError, match="no embedding"):
        writer.write(chunks)
    with pytest.raises(ValueError, match="begins at"):
        write_chunks(store, writer, chunks[3:])
    writer.abandon()
    assert store.discard_unfinished() == 0


def test_equal_texts_are_embedded_once_and_outlive_their_document(store):
    first = add_text(store, FOX)
    embeddings = store.counts().embeddings
    assert embeddings < store.counts().chunks
    store.remove_document(first)
    assert store.counts().embeddings == embeddings
    assert store.known([text_hash(FOX[:40]), b"x" * 16]) == {text_hash(FOX[:40])}
    assert text_hash(FOX[:40]) in store.embeddings_by_hash([text_hash(FOX[:40])])


def test_a_new_version_replaces_the_old_one_and_keeps_its_tags(store):
    old = add_text(store, FOX, "/files/a.txt")
    store.tag([old], ["contract"])
    new = add_text(store, CHINESE, "/files/a.txt", replaces=old, language="zh")
    assert [document.id for document in store.documents()] == [new]
    assert store.document(new).tags == ("contract",)
    assert store.lexical("fox", 5) == []
    assert store.find_by_path("/files/a.txt").id == new
    assert set(store.removed_since(0)) == set(range(1, 1 + len(chunks_of(FOX))))


def test_a_replaced_document_stays_while_it_lies_elsewhere(store):
    old = add_text(store, FOX, "/files/a.txt")
    store.link(FoundFile("/files/copy.txt", 1, 1), old)
    new = add_text(store, CHINESE, "/files/a.txt", replaces=old)
    assert [document.paths for document in store.documents()] == [("/files/copy.txt",), ("/files/a.txt",)]
    assert store.unlink("/files/copy.txt") == old
    assert [document.id for document in store.documents()] == [new]
    assert store.unlink("/files/copy.txt") is None


def test_the_same_bytes_twice_are_one_document(store):
    first = add_text(store, FOX, "/files/a.txt")
    assert add_text(store, FOX, "/files/b.txt") == first
    assert store.document(first).paths == ("/files/a.txt", "/files/b.txt")
    assert store.counts().chunks == len(chunks_of(FOX))


def test_a_failure_is_listed_and_gives_way_to_success(store):
    failed = Document("application/pdf", Status.ENCRYPTED, reason="needs a password")
    sha = __import__("hashlib").sha256(FOX.encode()).hexdigest()
    first = store.record_failure(failed, FoundFile("/files/a.txt", 5, 1), sha)
    assert store.document(first).status is Status.ENCRYPTED
    assert store.counts().by_status == {"encrypted": 1}
    second = add_text(store, FOX, "/files/b.txt")
    assert store.document(second).paths == ("/files/a.txt", "/files/b.txt")
    assert store.counts().documents == 1
    unreadable = Document("", Status.FAILED, reason="no rights")
    store.record_failure(unreadable, FoundFile("/files/c", 0, 0))
    store.record_failure(unreadable, FoundFile("/files/d", 0, 0))
    assert store.counts().documents == 3


def test_what_a_killed_writer_left_is_dropped_but_its_embeddings_stay(store):
    write_chunks(store, store.begin("00", 10, "text/plain"), chunks_of(FOX))
    assert store.discard_unfinished() == 1
    assert store.known([text_hash(FOX[:40])])


def test_ids_are_never_used_again(store):
    first = add_text(store, FOX)
    highest = store.chunk_ids().max()
    store.remove_document(first)
    assert add_text(store, CHINESE) > first
    assert store.chunk_ids().min() > highest


def test_language_means_follow_additions_and_removals(store):
    one = add_text(store, FOX, "/a")
    rows = store.chunk_embeddings(store.chunk_ids())
    add_text(store, CHINESE, "/b", language="zh")
    means = store.language_means()
    assert means["en"].chunk_count == len(rows)
    assert abs(means["en"].mean - rows.mean(axis=0)).max() < 1e-4
    store.remove_document(one)
    assert set(store.language_means()) == {"zh"}


def test_a_path_that_is_not_utf8_is_kept(store):
    made = add_text(store, FOX, "/files/\udcff.txt")
    assert store.document(made).paths == ("/files/\udcff.txt",)
    assert store.find_by_path("/files/\udcff.txt").id == made


def test_sources(store):
    first = store.add_source("/files")
    assert store.add_source("/files") == first
    made = add_text(store, FOX, "/files/a.txt")
    store.link(FoundFile("/files/a.txt", 3, 4, first), made)
    assert [file.path for file in store.files(first)] == ["/files/a.txt"]
    store.remove_source(first)
    assert store.sources() == []
    assert next(store.files()).source_id is None


def test_embeddings_come_back_as_float16_rows(store):
    add_text(store, FOX)
    ids = store.chunk_ids()
    wanted = ENCODER.encode_documents([chunk.chunk.text for chunk in store.chunks(ids)])
    assert abs(store.chunk_embeddings(ids) - wanted).max() < 1e-3
    assert (store.chunk_embeddings(ids[::-1]) == store.chunk_embeddings(ids)[::-1]).all()


def test_a_document_read_anew_replaces_its_own_bytes(store):
    old = add_text(store, FOX, status=Status.PARTIAL)
    new = add_text(store, FOX, replaces=old)
    assert new != old
    assert [(document.id, document.status) for document in store.documents()] == [(new, Status.INDEXED)]
    assert store.document(new).paths == ("/files/one.txt",)


def test_runs_are_remembered_in_order(store):
    report = RunReport((), 3, 1, 0, 0, 0, tokens=100, encoded_tokens=80, seconds=2.0, peak_rss_mb=1.0)
    store.record_run("2026-01-01T00:00:00+00:00", report)
    store.record_run("2026-01-02T00:00:00+00:00", report)
    assert [run.started[:10] for run in store.runs()] == ["2026-01-01", "2026-01-02"]
    assert store.runs()[0].tokens_per_second == 40.0
    assert [run.started[:10] for run in store.runs(limit=1)] == ["2026-01-02"]


def test_the_chunks_of_documents_written_side_by_side_are_told_apart(store):
    one, other = (store.begin(name, 10, "text/plain") for name in ("01", "02"))
    chunks, others = chunks_of(FOX), chunks_of(CHINESE)
    for first in range(0, len(chunks), 5):
        write_chunks(store, one, chunks[first : first + 5])
        write_chunks(store, other, others[first : first + 5])
    made = one.finish(Document("text/plain", Status.INDEXED), None)
    assert [chunk.chunk for chunk in store.chunks(store.chunk_ids([made]))] == chunks
    assert set(store.chunk_owner(store.chunk_ids()).tolist()) == {made}


def test_a_document_that_lost_its_last_chunk_lists_those_it_has(store):
    made = add_text(store, FOX, "/a")
    ids = store.chunk_ids([made])
    assert len(ids) > 1
    with store._connections.writing() as connection:
        connection.execute("DELETE FROM chunks WHERE id = ?", [int(ids[-1])])
    assert store.chunk_ids([made]).tolist() == ids[:-1].tolist()
