import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from app import assets


@pytest.fixture
def client():
    return TestClient(Starlette(middleware=[Middleware(assets.Assets)]))


def test_a_script_is_answered_whole_and_may_be_kept_for_ever(client):
    address = next(address for address in assets.files() if address.startswith("js/TextInput."))
    answer = client.get(f"/static/{address}")
    assert answer.content == assets.files()[address].read_bytes()
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize("path", ["js/none.js", "..%2Findex.html", "js/..%2F..%2Findex.html", "js/%2Fetc%2Fpasswd"])
def test_nothing_but_the_bundle_is_answered(client, path):
    assert client.get(f"/static/{path}").status_code == 404


def test_an_element_needs_what_its_script_imports_at_any_depth():
    needed = assets.needed_by(("TextInput", "NoSuchElement"))
    assert needed[0].startswith("js/TextInput.")
    assert len(needed) == len(set(needed)) > 10
    assert set(needed) <= assets.files().keys()
    for address in needed:
        imported = {f"js/{name}" for name in assets._IMPORTED.findall(assets.content(address).decode())}
        assert imported <= set(needed)


def test_only_who_is_let_in_gets_them(tmp_path, monkeypatch):
    monkeypatch.setenv("LONGDOC_UI_ACCESS", "password")
    from app.server import app

    kinds = [middleware.cls.__name__ for middleware in app._user_middleware]
    assert kinds.index("Gate") < kinds.index("Assets")
