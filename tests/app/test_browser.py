"""The pages in a real browser, on a real server with a real library."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, quote_plus, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, TimeoutError, expect, sync_playwright

from tests.app.browsing import (
    CHROMIUM,
    FLAGS,
    PATIENCE,
    Seen,
    environment,
    free_port,
    longdoc,
    opened,
    served,
    settled,
    tiny_pdf,
)
from tests.app.conftest import HOSTILE
from tests.app.provider import CLIENT, SECRET, provider

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (Debian: apt-get install chromium)"),
]

CONTRACT = """# Supply agreement {year}

## 1. Delivery

The supplier delivers within {days} days of the order. When delivery is late, the supplier pays a penalty of one per
cent of the price for each week, up to ten per cent in all. The buyer may cancel after ten weeks.

## 2. Payment

The buyer pays within forty-five days of the invoice. Interest runs at eight points above the reference rate.
The price list of {year} is part of this agreement and holds for all pumps of the series and for their spare parts.
"""


def write_shelf(folder: Path) -> None:
    folder.mkdir()
    (folder / "supply-2024.md").write_text(CONTRACT.format(year=2024, days="thirty"))
    (folder / "supply-2025.md").write_text(CONTRACT.format(year=2025, days="twenty"))
    (folder / "说明书.md").write_text("# 计量泵说明书\n\n## 启动\n\n启动计量泵之前，请缓慢打开阀门，并检查压力表。\n")
    (folder / "hostile.txt").write_text(f"Strange words\n\nA hostile document: {HOSTILE}\n")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing that could be read")
    lines = [(100, 700, "Pump manual"), (100, 600, "Open the relief valve slowly."), (100, 560, "Then start the pump.")]
    (folder / "manual.pdf").write_bytes(tiny_pdf(lines, "Pump manual"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    write_shelf(home / "shelf")
    longdoc_add(home, home / "shelf")
    return home


def longdoc_add(home: Path, folder: Path) -> None:
    try:
        longdoc(home, "add", str(folder))
    except Exception as error:  # exit code 3: one of the files is broken on purpose
        if getattr(error, "returncode", None) != 3:
            raise


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    with served(home) as url:
        yield url


expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def seen() -> Iterator[Seen]:
    """Whatever a test does: nothing leaves loopback, and the console stays free of errors."""
    seen = Seen()
    yield seen
    assert seen.elsewhere == []
    assert seen.errors == []


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    yield context
    context.close()


@pytest.fixture
def visit(context: BrowserContext, seen: Seen, address: str) -> Callable[[str], Page]:
    return lambda path: opened(context, seen, address + path)


def ask(page: Page, text: str) -> None:
    box = page.get_by_role("textbox", name="Search your documents")
    box.fill(text)
    box.press("Enter")
    page.wait_for_url(lambda url: f"q={quote_plus(text)}" in url)
    settled(page)


def test_the_head_is_there_before_the_script_and_gives_way_to_the_real_one(visit):
    page = visit("/")
    for width in (1280, 400):
        page.set_viewport_size({"width": width, "height": 900})
        expect(page.locator(".ld-first")).to_be_hidden()
        expect(page.locator("img.stLogo").filter(visible=True).first).to_be_visible()
    asked = page.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
    assert len(asked) == len(set(asked))  # what is named early is not fetched a second time


def test_search_in_english_and_chinese_and_open_the_place_by_keyboard(visit):
    page = visit("/")
    ask(page, "late delivery penalty")
    expect(page.locator(".ld-title").first).to_contain_text("Supply agreement")
    expect(page.locator("mark", has_text="penalty").first).to_be_visible()
    ask(page, "打开阀门")
    first = page.locator(".ld-title a").first
    expect(first).to_have_text("计量泵说明书")
    settled(page)
    first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/document\?.*chunk="))
    settled(page)
    expect(page.locator("h1")).to_have_text("计量泵说明书")
    expect(page.locator(".ld-article .ld-best")).to_contain_text("打开阀门")
    page.get_by_role("link", name="Back to the results").click()
    page.wait_for_url(lambda url: "/document" not in url)
    expect(page.locator(".ld-title a").first).to_have_text("计量泵说明书")


def test_the_way_back_from_a_document_leads_to_the_same_search(visit):
    page = visit("/?q=delivery&mode=lexical&language=en&language=zh&order=title")
    expect(page.locator(".ld-title a").first).to_be_visible()
    titles = page.locator(".ld-title").all_inner_texts()
    page.locator(".ld-title a").first.click()
    page.wait_for_url(re.compile(r"/document\?.*from="))
    settled(page)
    page.get_by_role("link", name="Back to the results").click()
    page.wait_for_url(lambda url: "/document" not in url)
    settled(page)
    assert {"mode=lexical", "language=en", "language=zh", "order=title"} <= set(urlsplit(page.url).query.split("&"))
    assert page.locator(".ld-title").all_inner_texts() == titles


def test_the_browsers_own_back_leads_from_a_document_to_the_same_search(visit):
    search = "q=delivery+valve&mode=lexical&order=title&type=text%2Fmarkdown&type=text%2Fplain"
    page = visit(f"/?{search}")
    page.locator(".ld-title a").first.click()
    page.wait_for_url(re.compile(r"/document\?"))
    settled(page)
    page.go_back()
    page.wait_for_url(lambda url: "/document" not in url)
    settled(page)
    assert parse_qs(urlsplit(page.url).query) == parse_qs(search)
    expect(page.get_by_role("radio", name="Words", exact=True)).to_be_checked()
    expect(page.locator(".ld-title").first).to_be_visible()


RECTANGLES = """(selectors) => selectors.flatMap((selector) => [...document.querySelectorAll(selector)]).map((one) => {
  const { x, y, width, height } = one.getBoundingClientRect();
  return { css: one.className, x, y, width, height };
})"""
"""Where elements stand, all read in one moment: a page that is being scrolled moves between two questions."""


def test_the_marks_lie_on_the_words_of_the_page(visit):
    page = visit("/?q=relief+valve")
    page.locator(".ld-title a", has_text="Pump manual").click()
    expect(page.locator(".ld-word")).to_have_count(2)
    page.wait_for_function("document.querySelector('.ld-sheet img')?.naturalWidth > 0")
    sheet, *boxes = page.evaluate(RECTANGLES, [".ld-sheet img", ".ld-rect", ".ld-word"])
    chunk, boxes = boxes[0], [box for box in boxes if box["css"] == "ld-word"]
    starts = sorted((box["x"] - sheet["x"]) / sheet["width"] * 612 for box in boxes)
    ends = sorted((box["x"] + box["width"] - sheet["x"]) / sheet["width"] * 612 for box in boxes)
    middles = [792 - (box["y"] + box["height"] / 2 - sheet["y"]) / sheet["height"] * 792 for box in boxes]
    # By Helvetica's widths at 18 points, "relief" stands at 179 to 218 and "valve" at 223 to 265, above the line 600.
    assert starts == pytest.approx([179, 223], abs=3)
    assert ends == pytest.approx([218, 265], abs=3)
    assert middles == pytest.approx([606, 606], abs=6)
    assert chunk["css"] == "ld-rect"
    assert chunk["x"] <= min(box["x"] for box in boxes) + 1


def test_an_address_shared_with_somebody_else_shows_them_the_same(visit, browser, seen):
    page = visit("/?q=delivery+valve")
    page.get_by_role("button", name="Filters").click()
    page.get_by_role("combobox", name="Type").click()
    page.get_by_role("option", name="PDF").click()
    page.wait_for_url(re.compile("type="))
    expect(page.locator(".ld-title")).to_have_text(["Pump manual"])
    settled(page)
    other = browser.new_context(locale="zh-CN")
    second = opened(other, seen, page.url)
    expect(second.locator(".ld-title")).to_have_text(["Pump manual"])
    expect(second.get_by_placeholder("用自己的话提问")).to_be_visible()
    other.close()


def test_a_hostile_document_stays_text_everywhere(visit):
    page = visit("/?q=hostile+document")
    expect(page.locator(".ld-text").first).to_contain_text("A hostile document")
    assert HOSTILE in page.locator(".ld-text").first.inner_text()
    page.locator(".ld-title a", has_text="hostile").click()
    page.wait_for_url(re.compile("/document"))
    expect(page.locator(".ld-article")).to_contain_text("A hostile document")
    assert HOSTILE in page.locator(".ld-article").inner_text()
    assert page.locator(".ld-article").locator("a, img, script, .katex").count() == 0


def test_a_folder_is_added_watched_over_a_reload_and_a_document_removed(visit, home):
    more = home / "more"
    more.mkdir()
    for number in range(3):
        (more / f"minutes-{number}.txt").write_text(f"Minutes {number}\n\nThe board met about matter {number}.\n" * 40)
    page = visit("/library")
    page.get_by_text("Add documents").click()
    page.get_by_label("A folder or file on this machine").fill(str(more))
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_selector(".st-key-job")
    page.reload()
    settled(page)
    page.get_by_text("minutes-0").or_(page.locator("canvas")).first.wait_for()
    page.wait_for_function("!document.querySelector('.st-key-job .ld-bar')")
    search = visit("/?q=board+met+matter&order=title")
    expect(search.locator(".ld-title", has_text=re.compile("^minutes")).first).to_be_visible()
    page.goto(page.url)
    settled(page)
    page.get_by_label("Filter by title, path or tag").fill("minutes-2")
    page.get_by_label("Filter by title, path or tag").press("Enter")
    choose_first(page, shown=1)
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text("The files on disk stay as they are")
    page.get_by_role("button", name="Remove 1").click()
    expect(page.get_by_text("No document matches this filter.")).to_be_visible()
    assert (more / "minutes-2.txt").exists()


def test_another_filter_forgets_what_was_chosen_so_that_no_other_row_is_removed(visit):
    page = visit("/library")
    box = page.get_by_label("Filter by title, path or tag")
    box.fill("pump")
    box.press("Enter")
    choose_first(page, shown=1)
    expect(page.get_by_role("button", name="Remove", exact=True)).to_be_visible()
    box.fill("hostile")
    box.press("Enter")
    page.get_by_role("region", name="Documents with their status: 1", exact=True).wait_for()
    expect(page.get_by_role("button", name="Remove", exact=True)).to_have_count(0)


def choose_first(page, shown: int) -> None:
    """Click the first row's box in the table once it has `shown` rows, again while the table was still being drawn."""
    table = page.get_by_role("region", name=f"Documents with their status: {shown}", exact=True)
    table.wait_for()
    remove = page.get_by_role("button", name="Remove", exact=True)
    for _ in range(8):
        settled(page)
        table.scroll_into_view_if_needed()
        table.click(position={"x": 16, "y": 38 + 18})
        with suppress(TimeoutError):
            remove.wait_for(timeout=PATIENCE / 8)
            return
    raise AssertionError("the first row could not be chosen")


def test_a_path_outside_the_allowed_folders_is_refused(visit):
    page = visit("/library")
    page.get_by_text("Add documents").click()
    page.get_by_label("A folder or file on this machine").fill("/etc")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".ld-warning")).to_contain_text("Documents may be added from")


def test_near_duplicates_are_compared_side_by_side(visit):
    page = visit("/duplicates")
    page.get_by_role("button", name="Look for duplicates").click()
    page.wait_for_selector(".st-key-job")
    page.reload()  # the work goes on without the page
    page.get_by_role("button", name="Compare side by side").first.click()
    page.wait_for_url(re.compile("a=.*b=|b=.*a="))
    settled(page)
    expect(page.locator(".ld-gone mark", has_text="2024").first).to_be_visible()
    expect(page.locator(".ld-come mark", has_text="2025").first).to_be_visible()


def test_the_map_is_made_and_drawn(visit):
    page = visit("/map")
    page.get_by_role("button", name="Make the map").click()
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot .scatterlayer .point').length >= 4")
    expect(page.get_by_role("heading", name="Clusters")).to_be_visible()


def test_the_interface_changes_its_language_and_keeps_it(visit):
    page = visit("/")
    page.get_by_role("radio", name="中文").or_(page.get_by_text("中文", exact=True)).first.click()
    expect(page.locator("h1")).to_have_text("想查找什么？")
    page.reload()
    settled(page)
    expect(page.locator("h1")).to_have_text("想查找什么？")


def test_with_a_password_nobody_comes_in_without_it(home, browser, seen):
    longdoc(home, "ui", "--set-password", "reader", extra={"LONGDOC_NEW_PASSWORD": "a reader's password"})
    with served(home, "--password") as address:
        context = browser.new_context(locale="en-GB")
        page = context.new_page()
        page.goto(f"{address}/document?id=1")
        expect(page).to_have_url(re.compile("/login"))
        page.get_by_label("Password").fill("not the password")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_have_text("That is not the password.")
        page.get_by_label("Password").fill("a reader's password")
        page.get_by_role("button", name="Sign in").click()
        settled(page)
        expect(page).to_have_url(re.compile(r"/document\?id=1"))
        page.goto(f"{address}/library")
        page.get_by_role("region", name=re.compile("^Documents with their status")).wait_for()
        expect(page.get_by_text("Add documents")).to_have_count(0)
        page.get_by_role("link", name="Sign out").click()
        expect(page).to_have_url(re.compile("/login"))
        context.close()


@pytest.mark.parametrize(("mail", "editor"), [("anna@example.org", True), ("ben@example.org", False)])
def test_people_sign_in_through_openid_connect_and_only_those_named_may_edit(home, browser, seen, mail, editor):
    port = free_port()
    with provider(mail) as known:
        (home / ".streamlit").mkdir(exist_ok=True)
        (home / ".streamlit" / "secrets.toml").write_text(
            f'[auth]\nredirect_uri = "http://127.0.0.1:{port}/oauth2callback"\ncookie_secret = "{"x" * 40}"\n'
            f'client_id = "{CLIENT}"\nclient_secret = "{SECRET}"\n'
            f'server_metadata_url = "{known.url}/.well-known/openid-configuration"\n'
        )
        environs = environment(home) | {"LONGDOC_UI_EDITORS": "Anna@example.org, chris@example.org"}
        with served(home, "--oidc", port=port, environs=environs) as address:
            context = browser.new_context(locale="en-GB")
            page = opened(context, seen, f"{address}/library")
            expect(page.get_by_role("heading", name="Sign in to search this library.")).to_be_visible()
            expect(page.get_by_role("region", name=re.compile("^Documents with their status"))).to_have_count(0)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url(lambda url: url.startswith(address) and "callback" not in url)
            expect(page.get_by_role("heading", name="What are you looking for?")).to_be_visible()
            page.goto(f"{address}/library")
            page.get_by_role("region", name=re.compile("^Documents with their status")).wait_for()
            settled(page)
            expect(page.get_by_text("Add documents")).to_have_count(int(editor))
            context.close()
        assert known.asked[0]["client_id"] == CLIENT
