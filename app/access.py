"""Who may come in: sessions by cookie, a brake on guessing, and the role a page asks for."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from indexer import Role, load_passwords, load_settings, password_matches, passwords_path

COOKIE = "longdoc_session"
SESSION_SECONDS = 12 * 3600


@dataclass(frozen=True, slots=True)
class _Session:
    role: Role
    expires: float


class Sessions:
    """Signed-in sessions, kept in memory under the hash of their token: a restart signs everybody out."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._sessions: dict[bytes, _Session] = {}

    def begin(self, role: Role) -> str:
        """Open a session and return its token."""
        token = secrets.token_urlsafe(32)
        now = self._clock()
        with self._lock:
            self._sessions = {key: kept for key, kept in self._sessions.items() if kept.expires > now}
            self._sessions[_key(token)] = _Session(role, now + SESSION_SECONDS)
        return token

    def role(self, token: str | None) -> Role | None:
        """The role behind a token, None when it is unknown or has expired."""
        if not token:
            return None
        with self._lock:
            session = self._sessions.get(_key(token))
        return session.role if session and session.expires > self._clock() else None

    def end(self, token: str | None) -> None:
        """Close a session; an unknown token is nothing to complain about."""
        if token:
            with self._lock:
                self._sessions.pop(_key(token), None)


class Brake:
    """Slows guessing down: after ``free`` wrong tries from one address each further one doubles the wait."""

    def __init__(self, free: int = 5, longest: float = 900.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._free, self._longest, self._clock = free, longest, clock
        self._lock = threading.Lock()
        self._tries: dict[str, tuple[int, float]] = {}

    def wait(self, address: str) -> float:
        """Seconds until this address may try again; 0 when it may now."""
        with self._lock:
            count, last = self._tries.get(address, (0, 0.0))
        if count < self._free:
            return 0.0
        return max(0.0, last + min(2.0 ** (count - self._free + 1), self._longest) - self._clock())

    def attempt(self, address: str) -> None:
        """Count a try before it is checked, so that many tries sent at once are counted as well."""
        now = self._clock()
        with self._lock:
            self._tries = {key: kept for key, kept in self._tries.items() if now - kept[1] < 4 * self._longest}
            self._tries[address] = (self._tries.get(address, (0, 0.0))[0] + 1, now)

    def passed(self, address: str) -> None:
        """Forget the tries of an address that knew the password."""
        with self._lock:
            self._tries.pop(address, None)


SESSIONS = Sessions()
BRAKE = Brake()
_one_at_a_time = threading.Lock()


def check_password(password: str) -> Role | None:
    """The highest role whose password this is; hashes one at a time, since each try takes 128 MB."""
    hashes = load_passwords(passwords_path())
    with _one_at_a_time:
        for role in (Role.EDITOR, Role.READER):
            if role in hashes and password_matches(password, hashes[role]):
                return role
    return None


def role() -> Role | None:
    """What the person behind this Streamlit session may do; None when they are not (or no longer) signed in."""
    settings = load_settings()
    if settings.ui_access == "local":
        return Role.EDITOR
    if settings.ui_access == "password":
        return SESSIONS.role(st.context.cookies.get(COOKIE))
    if not st.user.get("is_logged_in", False):
        return None
    editors = {name.strip().lower() for name in settings.ui_editors.split(",")}
    return Role.EDITOR if str(st.user.get("email", "")).lower() in editors - {""} else Role.READER


def may_edit() -> bool:
    """Whether this person may add, remove and tag documents."""
    return role() is Role.EDITOR


def _key(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
