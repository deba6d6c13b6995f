import pytest

from tests.killing import OPERATIONS, Killer


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
