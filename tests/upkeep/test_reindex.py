import pytest

from indexer import faults
from indexer.datatypes import Heading, OffsetMap, Page
from indexer.errors import LibraryError
from indexer.library import Library
from indexer.store import RecipeState
from indexer.upkeep import GateRefusedError, Severity, go_back, prune, reindex, verify
from indexer.upkeep.reindex import pages_of
from tests.building import ENCODER, add_text, make_library, recipe, settings
from tests.fakes import FakeEncoder

FOX = "The quick brown fox jumps over the lazy dog and runs away. " * 40
PUMP = "The pump must be drained before the winter and checked for leaks. " * 40


class Other(FakeEncoder):
    name = "other"
    fingerprint = "0b" * 32


OTHER = Other(32)
NEW = recipe(encoder="other", fingerprint=Other.fingerprint, dimension=32, chunk_tokens=64)


@pytest.fixture
def library(tmp_path):
    with make_library(tmp_path) as made:
        add_text(made.store, FOX, "/a")
        add_text(made.store, PUMP, "/b")
        yield made


def test_the_new_recipe_is_searched_when_all_of_it_is_built(tmp_path, library):
    seen = []

    def look(*_):
        seen.append((library.store.recipe, library.store.lexical("fox", 1)))

    done = reindex(library, NEW, OTHER, watch=look)
    assert {one for one, _ in seen} == {recipe()}
    assert all(found for _, found in seen)
    assert done.documents == 2
    assert library.store.recipe == NEW
    assert library.store.text(1) == FOX
    assert "".join(one.chunk.text for one in library.store.document_chunks(1)) == FOX
    assert all(one.chunk.tokens <= 64 for one in library.store.document_chunks(1))
    assert library.vectors.dimension == 32
    assert (library.vectors.ids == library.store.chunk_ids()).all()
    assert library.store.lexical("fox", 99)
    assert library.store.document_vector(1).shape == (32,)
    with Library.open(tmp_path / "library", settings(tmp_path), encoder=OTHER) as reader:
        assert reader.search_vectors(OTHER.encode_query(["fox"]), 1).ids[0, 0] in reader.store.chunk_ids([1])
    assert [one for one in verify(library).findings if one.severity is not Severity.NOTE] == []


def test_it_goes_back_and_forth_without_encoding_and_until_prune(library):
    reindex(library, NEW, OTHER)
    ids = library.store.chunk_ids()
    assert go_back(library) == recipe()
    assert (library.vectors.ids == library.store.chunk_ids()).all()
    encoded = len(OTHER.encoded)
    assert reindex(library, NEW, OTHER).encoded == 0
    assert len(OTHER.encoded) == encoded
    assert (library.store.chunk_ids() == ids).all()
    prune(library)
    with pytest.raises(LibraryError, match="prune"):
        go_back(library)
    assert [one.state for one in library.store.recipes()] == [RecipeState.ACTIVE]
    assert library.store.counts().chunks == len(ids)


def test_stopped_it_goes_on_where_it_was(library):
    def stop(name):
        if name == "reindex.document":
            raise KeyboardInterrupt

    faults.set_hook(stop)
    with pytest.raises(KeyboardInterrupt):
        reindex(library, NEW, OTHER)
    faults.set_hook(None)
    assert library.store.recipe == recipe()
    added = add_text(library.store, "Another text altogether. " * 50, "/c")
    library.store.remove_document(1)
    assert reindex(library, NEW, OTHER).documents == 2
    assert set(library.store.chunk_owner(library.store.chunk_ids()).tolist()) == {2, added}
    add_text(library.store, "And one more. " * 50, "/d")
    with pytest.raises(LibraryError, match="reindex"):
        go_back(library)


def test_a_gate_keeps_the_old_recipe_when_the_figure_falls(library):
    with pytest.raises(GateRefusedError, match=r"0\.8000 now and would give 0\.7000"):
        reindex(library, NEW, OTHER, gate=lambda one: 0.7 if one == NEW else 0.8)
    assert library.store.recipe == recipe()
    done = reindex(library, NEW, OTHER, gate=lambda one: 0.8)
    assert (done.before, done.after) == (0.8, 0.8)
    assert library.store.recipe == NEW


def test_an_equal_encoder_shares_embeddings_with_other_chunking(library):
    before = library.store.counts().embeddings
    short = recipe(chunk_tokens=16)
    reindex(library, short, ENCODER)
    grown = library.store.counts().embeddings
    assert grown > before
    assert reindex(library, recipe(chunk_tokens=17), ENCODER).encoded <= grown


def test_pages_come_back_as_they_were_read(library):
    (page,) = pages_of(library, 1)
    assert page == Page(FOX, OffsetMap.identity(len(FOX)), 1, None, (Heading(1, "Part", 0),))


@pytest.fixture(autouse=True)
def _no_hook():
    yield
    faults.set_hook(None)
