"""Libraries whose chunks share passes of the encoder: made, taken up again, built anew, checked, carried elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexer.datatypes import text_hash
from indexer.errors import RecipeMismatchError
from indexer.ingest import add
from indexer.library import Library
from indexer.settings import Settings
from indexer.store import Store
from indexer.upkeep import Severity, export_library, import_library, reindex, verify
from indexer.upkeep.sampled import encode_again
from tests.fakes import FakeEncoder
from tests.ingest.conftest import OPTIONS, prose

CHINESE = "合同双方应当按照约定的期限交货。逾期交货的一方须支付违约金。货物装在木箱里，由买方验收。" * 40


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "library", tmp_path / "cache", chunk_tokens=60, window=400)


@pytest.fixture
def library(settings: Settings, folder: Path, encoder: FakeEncoder) -> Iterator[Library]:
    (folder / "english.txt").write_text(prose(1, 30))
    (folder / "chinese.txt").write_text(CHINESE)
    with Library.open(settings.library, settings, create=True, write=True, encoder=encoder) as opened:
        add(opened, [str(folder)], OPTIONS)
        yield opened


def wrong(library: Library) -> list[str]:
    return [one.what for one in verify(library).findings if one.severity is not Severity.NOTE]


def rows_by_text(library: Library) -> dict[str, np.ndarray]:
    ids = library.store.chunk_ids()
    rows = library.store.chunk_embeddings(ids)
    return {stored.chunk.text: row for stored, row in zip(library.store.chunks(ids), rows, strict=True)}


def test_embeddings_know_their_surroundings_and_the_library_is_whole(library: Library) -> None:
    rows = rows_by_text(library)
    assert len(rows) > 20
    alone = dict(zip(rows, FakeEncoder().encode_documents(list(rows)), strict=True))
    cosines = [float(row @ alone[text]) for text, row in rows.items()]
    assert min(cosines) > 0.8
    assert np.mean(cosines) < 0.999
    assert wrong(library) == []
    assert not library.store.known(map(text_hash, rows))


def test_encoding_a_sample_again_gives_what_is_stored(library: Library) -> None:
    for count in (3, 1000):
        sampled = encode_again(library, count)
        assert len(sampled.cosines) == min(count, len(library.store.chunk_ids()))
        assert sampled.least > 0.9999


def test_a_changed_window_is_encoded_and_what_stands_before_it_is_not(
    library: Library, folder: Path, encoder: FakeEncoder
) -> None:
    encoder.encoded.clear()
    assert add(library, [str(folder)], OPTIONS).encoded_tokens == 0
    (folder / "copy.txt").write_text(prose(1, 30) + "\n\nA last sentence was added by hand.")
    report = add(library, [str(folder)], OPTIONS)
    assert 0 < report.encoded_tokens <= 400
    assert encoder.encoded
    assert wrong(library) == []


def test_the_same_text_in_other_surroundings_has_an_embedding_of_its_own(library: Library, folder: Path) -> None:
    first = prose(1, 30).split("\n\n")
    (folder / "other.txt").write_text("\n\n".join([prose(9, 3), *first]))
    before = library.store.counts().embeddings
    add(library, [str(folder)], OPTIONS)
    assert library.store.counts().embeddings > before + 10


def test_windows_and_single_chunks_are_never_mixed(library: Library, settings: Settings, folder: Path) -> None:
    with pytest.raises(RecipeMismatchError, match=r"window 400, and 100 .*longdoc reindex"):
        Library.open(settings.library, replace(settings, window=100), write=True, encoder=FakeEncoder())
    encoder = FakeEncoder()
    plain = replace(library.store.recipe, window=0)
    done = reindex(library, plain, encoder)
    assert done.encoded == len({text_hash(text) for text in rows_by_text(library)})
    for text, row in rows_by_text(library).items():
        np.testing.assert_allclose(row, FakeEncoder().encode_documents([text])[0], atol=2e-3)
    assert reindex(library, replace(plain, window=400), encoder).encoded == 0
    assert wrong(library) == []


def test_reindex_builds_the_embeddings_that_add_does(library: Library, settings: Settings, tmp_path: Path) -> None:
    wanted = rows_by_text(library)
    other = replace(settings, library=tmp_path / "other", window=0)
    with Library.open(other.library, other, create=True, write=True, encoder=FakeEncoder()) as plain:
        add(plain, [str(tmp_path / "folder")], OPTIONS)
        reindex(plain, replace(plain.store.recipe, window=400), FakeEncoder())
        built = rows_by_text(plain)
        assert wrong(plain) == []
    assert built.keys() == wanted.keys()
    for text, row in wanted.items():
        np.testing.assert_allclose(built[text], row, atol=2e-3)


def test_an_export_carries_them_and_its_check_sees_another_text(
    library: Library, settings: Settings, tmp_path: Path
) -> None:
    export_library(library, tmp_path / "export")
    other = replace(settings, library=tmp_path / "other")
    Store.create(other.library, library.store.recipe).close()
    with Library.open(other.library, other, write=True, encoder=FakeEncoder()) as new:
        import_library(new, tmp_path / "export")
        assert wrong(new) == []
        for text, row in rows_by_text(library).items():
            np.testing.assert_allclose(rows_by_text(new)[text], row, atol=1e-6)
        with new.store._connections.writing() as connection:
            connection.execute("UPDATE texts SET text = replace(text, '合', '和')")
        assert any("another text" in what for what in wrong(new))
