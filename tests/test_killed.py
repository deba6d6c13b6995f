import pytest

from indexer.ingest import Listener, add
from tests.killing import OPERATIONS, OPTIONS, Killer, assert_whole, without_workers


@pytest.fixture(scope="module")
def killer(tmp_path_factory):
    return Killer(tmp_path_factory.mktemp("killing"))


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_kill_at_a_named_moment_loses_nothing(killer, operation):
    moments = killer.of(operation).moments
    assert moments, "nothing is written at named moments"
    killer.round(operation, kill_at=(len(moments) + 1) // 2)


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["add", "sync", "reindex", "restore"])
def test_a_kill_at_any_time_loses_nothing(killer, operation):
    killer.round(operation, after=0.4 * killer.of(operation).seconds)


def test_a_file_that_could_not_be_read_is_told_from_a_document_half_made(killer):
    world = killer.world("backup")
    (world.folder / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    with without_workers(), world.open(write=True) as library:
        add(library, [world.folder], OPTIONS, Listener())
    with pytest.raises(AssertionError, match=r"no version of any file: broken\.pdf \(failed: .+\)"):
        assert_whole(world, {}, frozenset(), killer.texts)
