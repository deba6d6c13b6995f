"""Every page in light and dark, wide and narrow: pictures to look at, and nothing serious for an accessibility test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests.app.browsing import ARTEFACTS, CHROMIUM, FLAGS, ROOT, Seen, keep_result, longdoc, opened, served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (Debian: apt-get install chromium)"),
]

PAGES = {
    "start": "/",
    "search": "/?q=late+delivery+penalty",
    "search-chinese": "/?q=%E9%98%80%E9%97%A8&lang=zh",
    "document-pdf": "/document?id={pdf}&q=safety+valve+pressure&page=8",
    "document-text": "/document?id={text}&q=late+delivery",
    "library": "/library",
    "duplicates": "/duplicates",
    "comparison": "/duplicates?a={text}&b={other}",
    "map": "/map",
    "health": "/health",
}
WIDTHS = (1280, 400)
SCHEMES = ("light", "dark")
PAINTED = """(scheme) => {
  const [red] = getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor.match(/[0-9]+/g);
  return scheme === 'dark' ? red < 80 : red > 200;
}"""
"""Whether the page has taken on a colour scheme: the accessibility check must not meet it halfway."""
SERIOUS = ("serious", "critical")
NOT_OURS: dict[str, str] = {}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, int]]]:
    """A served library of the sample documents, clustered, and the numbers of the documents that are shown."""
    home = tmp_path_factory.mktemp("looks")
    longdoc(home, "add", str(ROOT / "data" / "samples"))
    longdoc(home, "clusters")
    keep_result(home / "library", "duplicates", longdoc(home, "duplicates", "--json"))
    from indexer import Library, load_settings
    from tests.fakes import FakeEncoder

    with Library.open(home / "library", load_settings(), encoder=FakeEncoder()) as library:
        numbers = {Path(d.paths[0]).name: d.id for d in library.store.documents()}
    names = {
        "pdf": numbers["TW-340-metering-pump-manual.pdf"],
        "text": numbers["supply-agreement-2024.txt"],
        "other": numbers["supply-agreement-2025.txt"],
    }
    with served(home) as address:
        yield address, names


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_fits_in_light_and_dark_wide_and_narrow(shelf, browser, name):
    address, names = shelf
    seen = Seen()
    complaints: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light", locale="en-GB")
    page = opened(context, seen, address + PAGES[name].format(**names))
    if name == "map":
        page.wait_for_selector(".js-plotly-plot .point")
    (ARTEFACTS / "pages").mkdir(parents=True, exist_ok=True)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            page.wait_for_function(PAINTED, arg=scheme)
            page.wait_for_timeout(500)  # what fades in has done so
            page.screenshot(path=ARTEFACTS / "pages" / f"{name}-{scheme}-{width}.png")
            complaints += [f"{scheme} {width}: {complaint}" for complaint in serious(page)]
        if (overhang := page.evaluate("document.documentElement.scrollWidth - window.innerWidth")) > 0:
            complaints.append(f"{width}: {overhang} pixels stand over the right edge")
    context.close()
    assert complaints == []
    assert seen.elsewhere == []
    assert seen.errors == []


def serious(page: Page) -> list[str]:
    """What axe finds serious on a page, a line for each place."""
    found = Axe().run(page).response["violations"]
    return [
        f"{violation['id']} ({violation['help']}): {node['target']} {node['html'][:160]}"
        for violation in found
        if violation["impact"] in SERIOUS and violation["id"] not in NOT_OURS
        for node in violation["nodes"][:3]
    ]
