import pytest

from indexer.datatypes import Recipe
from indexer.errors import RecipeMismatchError
from indexer.library import Library
from indexer.recipes import chosen_for_recipe
from indexer.settings import Settings
from tests.building import make_library, settings
from tests.fakes import FakeEncoder


def test_another_encoder_or_other_chunking_is_refused(tmp_path):
    make_library(tmp_path).close()

    class Other(FakeEncoder):
        fingerprint = "0b" * 32

    with pytest.raises(RecipeMismatchError, match="longdoc reindex"):
        Library.open(tmp_path / "library", settings(tmp_path), encoder=Other())
    changed = Settings(library=tmp_path / "library", cache=tmp_path, chunk_tokens=128)
    with pytest.raises(RecipeMismatchError, match=r"chunk_tokens 192.*128.*longdoc reindex"):
        Library.open(tmp_path / "library", changed, write=True)
    Library.open(tmp_path / "library", changed).close()


def test_the_recipe_records_the_encoder_and_the_chunking(tmp_path):
    with make_library(tmp_path) as library:
        assert library.store.recipe == Recipe(
            encoder="fake",
            fingerprint=FakeEncoder.fingerprint,
            dimension=64,
            query_prompt="",
            document_prompt="",
            encoder_pooling="mean",
        )


def test_what_a_person_chose_is_told_from_the_defaults(tmp_path):
    assert chosen_for_recipe(settings(tmp_path)) == {}
    assert chosen_for_recipe(Settings(library=tmp_path, cache=tmp_path, window=512)) == {"window": 512}
