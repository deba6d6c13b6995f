from app.access import SESSION_SECONDS, Brake, Sessions
from indexer import Role


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_session_has_its_role_until_it_ends_or_expires():
    clock = Clock()
    sessions = Sessions(clock)
    token, other = sessions.begin(Role.READER), sessions.begin(Role.EDITOR)
    assert sessions.role(token) is Role.READER
    sessions.end(token)
    assert sessions.role(token) is None
    clock.now += SESSION_SECONDS + 1
    assert sessions.role(other) is None


def test_an_unknown_token_has_no_role():
    sessions = Sessions()
    assert sessions.role(None) is None
    assert sessions.role("made up") is None


def test_the_brake_waits_longer_after_each_wrong_try_and_only_for_that_address():
    clock = Clock()
    brake = Brake(free=3, longest=60, clock=clock)
    waits = []
    for _ in range(10):
        brake.attempt("10.0.0.1")
        waits.append(brake.wait("10.0.0.1"))
    assert waits == [0, 0, 2, 4, 8, 16, 32, 60, 60, 60]
    assert brake.wait("10.0.0.2") == 0
    clock.now += 60
    assert brake.wait("10.0.0.1") == 0


def test_the_right_password_lets_the_brake_go():
    brake = Brake(free=1)
    brake.attempt("10.0.0.1")
    assert brake.wait("10.0.0.1") > 0
    brake.passed("10.0.0.1")
    assert brake.wait("10.0.0.1") == 0
