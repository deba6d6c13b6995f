"""The last searches of whoever sits at this browser, kept in memory while the server runs."""

from __future__ import annotations

import hashlib
import threading

import streamlit as st

from app import access
from indexer import load_settings

KEPT = 8
_lock = threading.Lock()
_searches: dict[str, list[str]] = {}


def note(text: str) -> None:
    """Put a search first in the list."""
    text = text.strip()
    if not text or len(text) > 200:
        return
    with _lock:
        kept = [one for one in _searches.get(_who(), []) if one != text]
        _searches[_who()] = [text, *kept][:KEPT]


def searches() -> list[str]:
    """The last searches, latest first."""
    with _lock:
        return list(_searches.get(_who(), []))


def forget() -> None:
    """Empty the list."""
    with _lock:
        _searches.pop(_who(), None)


def _who() -> str:
    mode = load_settings().ui_access
    if mode == "local":
        return "local"
    identity = st.context.cookies.get(access.COOKIE, "") if mode == "password" else str(st.user.get("email", ""))
    return hashlib.sha256(identity.encode()).hexdigest()
