"""Passwords of the browser side: kept as scrypt hashes in one private file, one password a role.

Cost parameters after the OWASP password storage guidance (scrypt, N = 2**17, r = 8, p = 1: 128 MB and some tenths of a
second a try).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
import tempfile
from enum import StrEnum
from pathlib import Path

from indexer.errors import SettingsError

_LOG2_N, _R, _P, _BYTES = 17, 8, 1, 32
MINIMUM_LENGTH = 10


class Role(StrEnum):
    """What a signed-in person may do: a reader searches and reads, an editor also adds and removes."""

    READER = "reader"
    EDITOR = "editor"


def hash_password(password: str) -> str:
    """A salted hash, as ``scrypt$log2N$r$p$salt$key`` in base64; another one every time.

    Raises SettingsError when the password is too short to protect anything.
    """
    if len(password) < MINIMUM_LENGTH:
        raise SettingsError(f"A password needs at least {MINIMUM_LENGTH} characters; this one has {len(password)}.")
    salt = secrets.token_bytes(16)
    key = _derive(password, salt, _LOG2_N, _R, _P)
    return "$".join(("scrypt", str(_LOG2_N), str(_R), str(_P), _encode(salt), _encode(key)))


def password_matches(password: str, hashed: str) -> bool:
    """Whether this is the password that was hashed; compared in constant time."""
    scheme, log2_n, r, p, salt, key = hashed.split("$")
    if scheme != "scrypt":
        raise SettingsError(f"A password is stored in a way this version does not know ({scheme}). Set it again.")
    derived = _derive(password, base64.b64decode(salt), int(log2_n), int(r), int(p))
    return hmac.compare_digest(derived, base64.b64decode(key))


def load_passwords(path: Path) -> dict[Role, str]:
    """The stored hashes; empty when no password was ever set. Raises SettingsError when the file is damaged."""
    if not path.exists():
        return {}
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        hashes = {Role(role): str(hashed) for role, hashed in stored.items()}
        if not all(hashed.count("$") == 5 for hashed in hashes.values()):
            raise ValueError("a hash is incomplete")
    except (ValueError, AttributeError, OSError) as error:
        raise SettingsError(
            f"The password file {path} cannot be read ({error}). Delete it and set the passwords again with "
            "`longdoc ui --set-password editor`."
        ) from error
    return hashes


def store_password(path: Path, role: Role, password: str) -> None:
    """Set one role's password; the file is readable by its owner alone and replaced in one step."""
    hashes = load_passwords(path) | {role: hash_password(password)}
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)  # mode 0600
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(hashes, file)
    Path(temporary).replace(path)


def _derive(password: str, salt: bytes, log2_n: int, r: int, p: int) -> bytes:
    n = 2**log2_n
    return hashlib.scrypt(password.encode(), salt=salt, n=n, r=r, p=p, maxmem=132 * n * r + 2**20, dklen=_BYTES)


def _encode(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
