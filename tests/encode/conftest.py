from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from indexer.settings import Settings, load_settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings whose cache is empty."""
    return dataclasses.replace(load_settings(), library=tmp_path / "library", cache=tmp_path / "cache")


@pytest.fixture(scope="session")
def shared_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings with a cache that stays for the test run: the model is converted once."""
    kept = os.environ.get("LONGDOC_TEST_CACHE")
    cache = Path(kept) if kept else tmp_path_factory.mktemp("cache")
    return dataclasses.replace(load_settings(), cache=cache)
