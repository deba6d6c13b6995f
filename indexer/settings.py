"""The only reader of the environment and of the config file: where things lie and how the work is done.

A setting comes from, in this order: an argument on the command line, an environment variable ``LONGDOC_NAME``, the
file ``config.toml`` in the user's config directory, the default given here.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import platformdirs

from indexer.errors import SettingsError

APPLICATION = "longdoc"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True, slots=True)
class Settings:
    """How longdoc works on this machine for this person; every field can be set in the environment or the file."""

    library: Path
    cache: Path
    encoder: str = "e5-small"
    chunk_tokens: int = 192
    chunk_minimum: int = 24
    document_pooling: str = "weighted"
    window: int = 0
    precision: str = "auto"
    threads: int = 0
    batch_tokens: int = 0
    memory: str = "auto"
    parse_seconds: int = 300
    parse_memory: str = "2GB"
    parse_workers: int = 1
    ocr: str = "auto"
    allow_download: str = "no"
    trust_remote_code: str = "no"
    ui_access: str = "local"
    ui_hosts: str = ""
    ui_roots: str = ""
    ui_upload_mb: int = 200
    ui_downloads: str = "yes"
    ui_editors: str = ""


def config_path() -> Path:
    """Where the config file is looked for; it need not exist."""
    chosen = os.environ.get("LONGDOC_CONFIG")
    return Path(chosen) if chosen else platformdirs.user_config_path(APPLICATION) / "config.toml"


def passwords_path() -> Path:
    """Where the hashes of the browser side's passwords are kept, beside the config file."""
    return config_path().with_name("passwords.json")


def load_settings() -> Settings:
    """Read the environment and the config file.

    Raises SettingsError, naming the setting and where it was set, when a value cannot be used.
    """
    values: dict[str, Any] = {
        "library": platformdirs.user_data_path(APPLICATION) / "library",
        "cache": platformdirs.user_cache_path(APPLICATION),
    }
    kinds = {field.name: str(field.type) for field in fields(Settings)}
    path = config_path()
    if path.exists():
        for name, value in _read_file(path).items():
            if name not in kinds:
                raise SettingsError(
                    f"{path}: there is no setting called {name!r}; known are {', '.join(sorted(kinds))}."
                )
            values[name] = _convert(name, str(value), kinds[name], str(path))
    for name, kind in kinds.items():
        if (value := os.environ.get(f"LONGDOC_{name.upper()}")) is not None:
            values[name] = _convert(name, value, kind, f"the environment variable LONGDOC_{name.upper()}")
    return Settings(**values)


def _read_file(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The config file {path} cannot be read: {error}.") from error


def _convert(name: str, value: str, kind: str, origin: str) -> object:
    if kind == "Path":
        return Path(value).expanduser()
    if kind == "int":
        try:
            return int(value)
        except ValueError as error:
            raise SettingsError(f"{origin} sets {name} to {value!r}, which is not a whole number.") from error
    return value


def parse_size(value: str, setting: str) -> int:
    """``2GB``, ``512 MiB`` or ``1.5G`` in bytes (powers of 1,024). Raises SettingsError naming the setting."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)I?B?\s*", value.upper())
    if match is None:
        raise SettingsError(f"{setting} is {value!r}, which is not a size such as 2GB or 512MB.")
    return int(float(match[1]) * _UNITS[match[2]])
