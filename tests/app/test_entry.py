import re

from app import assets, entry


def test_the_first_page_shows_the_head_before_any_script_and_names_what_the_start_page_needs():
    page = entry.first_page()
    assert re.search(r'<div class="ld-first".*longdoc</div><div id="root">', page)
    assert page.index("<base href") < page.index('<script type="module"')
    for name in entry._SHOWN_FIRST[:5]:
        assert re.search(rf'rel="modulepreload" crossorigin href="./static/js/{name}\.', page)
    addresses = re.findall(r'href="\./static/([^"]+)"', page)
    assert len(addresses) == len(set(addresses))
    assert set(addresses) <= assets.files().keys()
