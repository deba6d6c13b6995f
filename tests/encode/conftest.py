from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from indexer.settings import Settings, load_settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings whose cache is empty, in float32: which precision wins differs from one machine to the next."""
    return dataclasses.replace(
        load_settings(), library=tmp_path / "library", cache=tmp_path / "cache", precision="float32"
    )


@pytest.fixture
def measuring_settings(settings: Settings) -> Settings:
    """Settings with which an encoder works in whatever precision is measured to be the fastest here."""
    return dataclasses.replace(settings, precision="auto")


@pytest.fixture(scope="session")
def shared_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings with a cache that stays for the test run: the model is converted once."""
    kept = os.environ.get("LONGDOC_TEST_CACHE")
    cache = Path(kept) if kept else tmp_path_factory.mktemp("cache")
    return dataclasses.replace(load_settings(), cache=cache, precision="float32")
