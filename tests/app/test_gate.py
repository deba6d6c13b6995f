from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from app import access
from app.gate import HEADERS, Gate, sign_in, sign_out
from indexer import Role, Settings, passwords as hashing, passwords_path, store_password

LOCAL = ("127.0.0.1", 50000)
PAGE = {"accept": "text/html"}
STREAM = "ws://localhost:8501/_stcore/stream"


async def inside(request):
    return PlainTextResponse("inside")


async def stream(websocket):
    await websocket.accept()
    await websocket.close()


def client(mode="local", hosts="", address=LOCAL, host="localhost:8501") -> TestClient:
    settings = Settings(library=Path("x"), cache=Path("x"), ui_access=mode, ui_hosts=hosts)
    app = Starlette(
        routes=[
            Route("/login", sign_in, methods=["GET", "POST"]),
            Route("/logout", sign_out),
            WebSocketRoute("/_stcore/stream", stream),
            Route("/{path:path}", inside),
        ],
        middleware=[Middleware(Gate, settings=settings)],
    )
    return TestClient(app, base_url=f"http://{host}", client=address, follow_redirects=False)


@pytest.fixture(autouse=True)
def _fresh(monkeypatch, tmp_path):
    monkeypatch.setattr(hashing, "_LOG2_N", 10)
    monkeypatch.setattr(access, "BRAKE", access.Brake())
    monkeypatch.setattr(access, "SESSIONS", access.Sessions())
    monkeypatch.setenv("LONGDOC_CONFIG", str(tmp_path / "config.toml"))
    store_password(passwords_path(), Role.EDITOR, "editor password")
    store_password(passwords_path(), Role.READER, "reader password")


def test_this_machine_comes_in_without_a_password_and_gets_the_safety_headers():
    answer = client().get("/")
    assert answer.text == "inside"
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS


def test_another_machine_is_refused_when_no_password_protects():
    assert client(address=("192.168.1.9", 1)).get("/").status_code == 403
    with (
        pytest.raises(WebSocketDisconnect),
        client(address=("192.168.1.9", 1)).websocket_connect(STREAM),
    ):
        pass


def test_a_name_that_is_not_ours_is_refused_so_that_no_site_can_point_its_name_here():
    assert client(host="evil.example").get("/").status_code == 421
    assert client(host="search.example", hosts="search.example").get("/").status_code == 200


def test_a_stranger_is_sent_to_the_form_and_his_machines_are_refused():
    stranger = client("password")
    answer = stranger.get("/document?id=3&q=a b", headers=PAGE)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/login?next=/document%3Fid%3D3%26q%3Da%2520b"
    assert stranger.get("/media/x.png").status_code == 401
    assert stranger.post("/_stcore/upload_file/a/b").status_code == 401
    assert stranger.get("/_stcore/health").status_code == 200
    with pytest.raises(WebSocketDisconnect), stranger.websocket_connect(STREAM):
        pass


@pytest.mark.parametrize(("password", "role"), [("editor password", Role.EDITOR), ("reader password", Role.READER)])
def test_a_password_opens_a_session_with_its_role_until_signing_out(password, role):
    person = client("password")
    answer = person.post("/login", data={"password": password, "next": "/document?id=3"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/document?id=3"
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert "samesite=lax" in answer.headers["set-cookie"].lower()
    assert access.SESSIONS.role(person.cookies[access.COOKIE]) is role
    assert person.get("/", headers=PAGE).text == "inside"
    with person.websocket_connect(STREAM):
        pass
    token = person.cookies[access.COOKIE]
    person.get("/logout")
    assert access.SESSIONS.role(token) is None
    assert person.get("/", headers=PAGE).status_code == 303


def test_wrong_passwords_are_told_so_and_then_slowed_down():
    guesser = client("password")
    answers = [guesser.post("/login", data={"password": f"wrong {n}"}) for n in range(6)]
    assert [answer.status_code for answer in answers] == [401] * 5 + [429]
    assert 'role="alert"' in answers[0].text
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert guesser.post("/login", data={"password": "editor password"}).status_code == 429


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example", "/\\evil.example", "/login", "\r\nx: y", ""]
)
def test_signing_in_leads_nowhere_but_here(target):
    answer = client("password").post("/login", data={"password": "editor password", "next": target})
    assert answer.headers["location"] == "/"


def test_a_form_sent_from_another_site_is_refused():
    answer = client("password").post(
        "/login", data={"password": "editor password"}, headers={"origin": "https://evil.example"}
    )
    assert answer.status_code == 403


def test_what_the_form_repeats_is_escaped():
    answer = client("password").get("/login", params={"next": '/"><script>alert(1)</script>'})
    assert "<script>" not in answer.text


def test_a_huge_form_is_not_read():
    assert client("password").post("/login", data={"password": "x" * 10_000}).status_code == 401


def test_a_made_up_or_broken_cookie_is_a_stranger():
    stranger = client("password")
    for cookie in (f"{access.COOKIE}=guess", "=;=;\x7f", f"{access.COOKIE}="):
        assert stranger.get("/media/x.png", headers={"cookie": cookie}).status_code == 401


def test_the_form_speaks_the_browser_s_language():
    assert "密码" in client("password").get("/login", headers={"accept-language": "zh-CN,zh;q=0.9"}).text
