import re
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qs, urlsplit

from app import results
from indexer import search_library
from tests.app.conftest import html_of


def test_without_a_library_the_page_teaches_how_to_make_one(open_page):
    test = open_page()
    assert not test.exception
    assert "Your library is empty" in html_of(test)
    assert test.code[0].value == "longdoc add ~/Documents"


def test_before_a_search_the_page_says_what_is_there(open_page, library):
    test = open_page()
    assert not test.exception
    assert "What are you looking for?" in html_of(test)
    assert "5 documents" in html_of(test)


def test_a_search_shows_title_place_text_and_marks(open_page, library):
    test = open_page()
    test.text_input(key="address.q").set_value("late delivery penalty").run()
    assert not test.exception
    page = html_of(test)
    assert "Supply agreement" in page
    assert "<mark>late</mark>" in page
    assert "Found by" in page
    assert "%" not in re.sub(r'style="[^"]*"', "", page.split("ld-title")[1].split("ld-text")[0])


def test_the_dots_of_a_table_of_contents_are_cut_short(library):
    hit = search_library(library, "late delivery penalty").hits[0]
    text = "Delivery . . . . . . . . . . 8 Payment ........... 9 and so on..."
    page = results.chunk_text(replace(hit, text=text, highlights=(), sentence=None))
    assert page == '<p class="ld-text">Delivery … 8 Payment … 9 and so on...</p>'


def test_nothing_found_is_said_once_and_what_else_to_try_names_the_pages(open_page, library):
    page = html_of(open_page(q="zzqxv", mode="lexical"))
    assert "Nothing was found for" in page
    assert "Nothing relevant was found." not in page
    assert "longdoc list" not in page
    assert "See on the Library page" in page


def test_a_hit_says_under_which_headings_it_stands(open_page, library):
    page = html_of(open_page(q="further terms set out below", mode="lexical"))
    assert '<div class="ld-where">2. Payment</div>' in page


def test_the_query_is_in_the_address_and_the_address_asks(open_page, library):
    test = open_page(q="阀门", mode="lexical")
    assert test.text_input(key="address.q").value == "阀门"
    assert "计量泵说明书" in html_of(test)
    assert test.query_params["q"] in ("阀门", ["阀门"])


def test_a_hit_leads_to_its_place_in_its_document(open_page, library):
    test = open_page(q="penalty")
    href = re.search(r'<a class="ld-go [^"]*" href="([^"]+)"', html_of(test).split("ld-title")[1]).group(1)
    parts = urlsplit(href.replace("&amp;", "&"))
    assert parts.path == "document"
    assert set(parse_qs(parts.query)) == {"id", "chunk", "q"}


def test_the_way_back_from_a_document_holds_the_whole_search(open_page, library):
    search = {"q": "late delivery penalty", "mode": "lexical", "language": ["en", "zh"], "order": "title", "p": "1"}
    there = html_of(open_page(**search)).split('class="ld-title"')[1].split('href="')[1].split('"')[0]
    asked = {name: values[0] for name, values in parse_qs(urlsplit(unescape(there)).query).items()}
    page = html_of(open_page("document", **asked))
    (back,) = re.findall(r'class="ld-go ld-back" href="([^"]*)"', page)
    kept = parse_qs(urlsplit(unescape(back)).query)
    assert kept == {name: value if isinstance(value, list) else [value] for name, value in search.items()}
    (tick, *_) = re.findall(r'class="ld-go ld-tick" href="([^"]*)"', page)
    assert parse_qs(urlsplit(unescape(tick)).query)["from"] == [asked["from"]]


def test_a_hostile_document_stays_text(open_page, library):
    page = html_of(open_page(q="hostile document"))
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in re.sub(r"</?(mark|span)[^>]*>", "", page)


def test_filters_narrow_a_search_and_are_read_from_the_address(open_page, library):
    assert "Supply agreement" in html_of(open_page(q="pump delivery"))
    narrowed = html_of(open_page(q="pump delivery", type="text/plain"))
    assert "Supply agreement" not in narrowed
    assert ">pump</a>" in narrowed


def test_documents_that_could_not_be_read_are_mentioned(open_page, library):
    assert "nothing could be read (1 damaged)" in html_of(open_page(q="valve"))


def test_nothing_found_says_what_to_try(open_page, library):
    page = html_of(open_page(q="zzzzqqqq", mode="lexical"))
    assert "Nothing was found for" in page


def test_a_made_up_address_is_no_error(open_page, library):
    test = open_page(q="valve", mode="nonsense", p="-3", like="x", more="1,zz", after="yesterday", order="7")
    assert not test.exception


def test_the_interface_speaks_chinese(open_page, library):
    test = open_page(lang="zh")
    assert "想查找什么" in html_of(test)


def test_last_searches_are_offered_again(open_page, library):
    open_page(q="valve")
    test = open_page()
    assert [button.label for button in test.button][:1] == ["valve"]


def test_a_place_is_on_one_side_of_a_steered_search_only(open_page, library):
    test = open_page(q="pump valve")
    test.button(key="more_1").click().run()
    steered = test.query_params["more"]
    number = int(steered[0] if isinstance(steered, list) else steered)
    assert "Closer to 1 chosen" in [button.label for button in test.button]
    place = next(
        button.key.removeprefix("more_")
        for button in test.button
        if (button.key or "").startswith("more_") and button.disabled
    )
    test.button(key=f"less_{place}").click().run()
    assert not test.exception
    assert "more" not in test.query_params
    assert test.query_params["less"] in (str(number), [str(number)])
