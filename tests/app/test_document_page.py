import re

from indexer import search_library
from tests.app.conftest import html_of


def number_of(library, title):
    return str(next(document.id for document in library.store.documents() if title in " ".join(document.paths)))


def test_without_a_document_the_page_says_where_to_find_one(open_page, library):
    test = open_page("document")
    assert not test.exception
    assert "Choose a document first" in html_of(test)


def test_a_document_that_is_not_there_is_a_sentence(open_page, library):
    test = open_page("document", id="999")
    assert not test.exception
    assert "There is no document 999" in html_of(test)


def test_a_text_is_shown_with_the_chunk_and_the_words_marked(open_page, library):
    hit = search_library(library, "late delivery penalty").hits[0]
    test = open_page("document", id=str(hit.document.id), chunk=str(hit.chunk_id), q="late delivery penalty")
    assert not test.exception
    page = html_of(test)
    article = page.split("<article")[1]
    assert '<span class="ld-best">' in article
    assert "<mark>penalty</mark>" in article
    assert "Back to the results" in page
    assert 'class="ld-go ld-tick"' in page


def test_the_way_back_leads_to_the_whole_search_and_nowhere_else(open_page, library):
    search = "q=late&mode=lexical&type=text%2Fmarkdown&type=text%2Fplain&order=title&p=2"
    page = html_of(open_page("document", **{"id": number_of(library, "supply.md"), "q": "late", "from": search}))
    assert f'href="./?{search.replace("&", "&amp;")}"' in page
    page = html_of(open_page("document", **{"id": number_of(library, "supply.md"), "from": "https://example.org/?q=x"}))
    assert re.search(r'class="ld-go ld-back" href="\./\?', page)


def test_the_outline_leads_to_its_headings(open_page, library):
    page = html_of(open_page("document", id=number_of(library, "supply.md")))
    outline = page.split("ld-outline")[1]
    assert re.findall(r"at=\d+\"[^>]*>(\d\. \w+)</a>", outline) == ["1. Delivery", "2. Payment"]


def test_a_document_without_text_shows_why(open_page, library):
    test = open_page("document", id=number_of(library, "broken.pdf"))
    assert not test.exception
    page = html_of(test)
    assert "no text that could be read" in page
    assert "Could not be read" in page


def test_searching_inside_a_document_keeps_to_it(open_page, library):
    test = open_page("document", id=number_of(library, "supply.md"))
    test.text_input(key="address.q").set_value("payment").run()
    assert not test.exception
    assert "<mark>Payment</mark>" in html_of(test)
    assert test.query_params["in"] in ("payment", ["payment"])


def test_a_hostile_document_is_text(open_page, library):
    page = html_of(open_page("document", id=number_of(library, "hostile.txt")))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; $x^2$ **bold**" in page
