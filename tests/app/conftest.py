from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import app
from app import recent
from indexer import Library, Settings
from indexer.doctor import Diagnosis, Finding, Level
from indexer.ingest import AddOptions, add
from indexer.parse import ReadOptions
from tests.fakes import FakeEncoder

MAIN = str(Path(app.__file__).with_name("main.py"))
HOSTILE = "<script>alert(1)</script> $x^2$ **bold** [click](javascript:alert(1)) :material/home: <img src=x onerror=y>"
DIAGNOSIS = Diagnosis(
    (Finding("machine", "cores", Level.OK, "2 cores"), Finding("disk", "space", Level.WARN, "little"))
)


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has its own library, settings and caches, the fake encoder, and a doctor who is quick."""
    monkeypatch.setenv("LONGDOC_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setenv("LONGDOC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LONGDOC_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setattr("indexer.encode.load_encoder", lambda *_, **__: FakeEncoder())
    monkeypatch.setattr("app.reports.diagnose", lambda *_, **__: DIAGNOSIS)
    st.cache_resource.clear()
    recent._searches.clear()


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder of small documents, a hostile one among them."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    (folder / "supply.md").write_text(
        "# Supply agreement\n\n## 1. Delivery\n\nThe supplier delivers within thirty days of the order. "
        "When delivery is late, the supplier pays a penalty of one per cent for each week.\n\n"
        "## 2. Payment\n\nThe buyer pays within forty-five days. " + "Further terms are set out below. " * 60
    )
    (folder / "pump.txt").write_text("Pump manual\n\nOpen the valve slowly before the pump is started.\n")
    (folder / "说明书.md").write_text("# 计量泵说明书\n\n启动计量泵之前，请缓慢打开阀门，并检查压力表。\n")
    (folder / "hostile.txt").write_text(f"Strange words\n\nA hostile document: {HOSTILE}\n")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing that could be read")
    return folder


@pytest.fixture
def library(tmp_path: Path, shelf: Path) -> Library:
    """The shelf as a library, closed again for writing."""
    settings = Settings(library=tmp_path / "library", cache=tmp_path / "cache")
    with Library.open(settings.library, settings, create=True, write=True, encoder=FakeEncoder()) as opened:
        add(opened, [str(shelf)], AddOptions(ReadOptions(sandbox=False)))
    return Library.open(settings.library, settings, encoder=FakeEncoder())


@pytest.fixture
def open_page() -> Callable[..., AppTest]:
    """Open a page of the application at an address and run it once."""

    def open_at(page: str = "search", **parameters: str | list[str]) -> AppTest:
        test = AppTest.from_file(MAIN, default_timeout=120)
        for name, value in parameters.items():
            test.query_params[name] = value
        test.run()
        if page != "search":
            test.switch_page(f"views/{page}.py").run()
        return test

    return open_at


def html_of(test: AppTest) -> str:
    """All markup of our own making on the page, put together."""
    return "\n".join(str(element.proto.body) for element in test.main if element.type == "html")
