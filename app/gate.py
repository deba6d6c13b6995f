"""What stands before Streamlit on the wire: who may connect, the sign-in page, and what a browser may load."""

from __future__ import annotations

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, quote, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import access
from app.markup import escaped
from app.texts import Language, text
from indexer import Role, Settings

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_OPEN_PATHS = frozenset({"/login", "/_stcore/health"})
_BODY_LIMIT = 4096

HEADERS: Mapping[str, str] = {
    # Streamlit's bundle starts with an inline script and styles its elements inline; nothing comes from elsewhere.
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' 'unsafe-eval' blob:; "
        "style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' blob: data:; worker-src 'self' blob:; "
        "media-src 'self' blob:; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
}


class Gate:
    """ASGI middleware: refuses strangers, asks for the password where one is demanded, adds the safety headers."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._access = settings.ui_access
        self._hosts = LOOPBACK | {name.strip().lower() for name in settings.ui_hosts.split(",") if name.strip()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, _with_headers(send))
        elif scope["type"] == "http":
            await refusal(scope, receive, _with_headers(send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = urlsplit(f"//{headers.get('host', '')}").hostname or ""
        if "*" not in self._hosts and host not in self._hosts:
            return PlainTextResponse("This name is not one longdoc answers to. See `longdoc ui --help`.", 421)
        if self._access == "local" and (scope.get("client") or ("",))[0] not in LOOPBACK:
            return PlainTextResponse("longdoc answers this machine alone. See `longdoc ui --help`.", 403)
        if self._access != "password" or scope["path"] in _OPEN_PATHS:
            return None
        if access.SESSIONS.role(session_token(headers)) is not None:
            return None
        if scope["type"] == "http" and scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
            query = scope.get("query_string", b"").decode("latin-1")
            target = scope["path"] + (f"?{query}" if query else "")
            return RedirectResponse(f"/login?next={quote(target)}", 303)
        return PlainTextResponse("Sign in first.", 401)


def session_token(headers: Mapping[str, str]) -> str | None:
    """The session cookie of a request, None without one."""
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(access.COOKIE)
    except CookieError:
        return None
    return cookie.value if cookie else None


async def sign_in(request: Request) -> Response:
    """Show the sign-in form, or check the password that was sent."""
    language = Language.best_for(request.headers.get("accept-language"))
    if request.method != "POST":
        return _form(language, _next(request.query_params.get("next")))
    origin = request.headers.get("origin")
    if origin and urlsplit(origin).netloc != request.headers.get("host"):
        return PlainTextResponse("This form was sent from another site.", 403)
    body = await _body(request)
    target = _next(body.get("next"))
    address = request.client.host if request.client else ""
    if (wait := access.BRAKE.wait(address)) > 0:
        message = text("login.wait", language, seconds=int(wait) + 1)
        return _form(language, target, message, 429, {"Retry-After": str(int(wait) + 1)})
    access.BRAKE.attempt(address)
    role = await run_in_threadpool(access.check_password, body.get("password", ""))
    if role is None:
        return _form(language, target, text("login.wrong", language), 401)
    access.BRAKE.passed(address)
    return _signed_in(request, role, target)


async def sign_out(request: Request) -> Response:
    """Close the session and go back to the sign-in form."""
    access.SESSIONS.end(session_token(request.headers))
    response = RedirectResponse("/login", 303)
    response.delete_cookie(access.COOKIE)
    return response


def _signed_in(request: Request, role: Role, target: str) -> Response:
    response = RedirectResponse(target, 303)
    response.set_cookie(
        access.COOKIE,
        access.SESSIONS.begin(role),
        max_age=access.SESSION_SECONDS,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


async def _body(request: Request) -> dict[str, str]:
    raw = b""
    async for piece in request.stream():
        raw += piece
        if len(raw) > _BODY_LIMIT:
            return {}
    return {name: values[0] for name, values in parse_qs(raw.decode("utf-8", "replace")).items()}


def _next(target: str | None) -> str:
    """Where to go after signing in: a path of this site, nothing else."""
    safe = target and target.startswith("/") and not target.startswith(("//", "/\\", "/login"))
    return target if target and safe and "\\" not in target and target.isprintable() else "/"


def _with_headers(send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return sender


def _form(
    language: Language, target: str, problem: str = "", status: int = 200, headers: Mapping[str, str] | None = None
) -> HTMLResponse:
    alert = f'<p role="alert">{escaped(problem)}</p>' if problem else ""
    page = f"""<!doctype html>
<html lang="{language.value}"><head><meta charset="utf-8"><title>{escaped(text("login.title", language))}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head><body><main>
<h1>longdoc</h1><p>{escaped(text("login.lead", language))}</p>{alert}
<form method="post" action="/login"><input type="hidden" name="next" value="{escaped(target)}">
<label for="password">{escaped(text("login.password", language))}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required autofocus>
<button type="submit">{escaped(text("login.button", language))}</button></form></main></body></html>"""
    return HTMLResponse(page, status, headers={"Cache-Control": "no-store", **(headers or {})})


_STYLE = """
:root { color-scheme: light dark; --ink: light-dark(#23272b, #e7e4dd); --line: light-dark(#8d8878, #6d7276);
  --accent: light-dark(#1f5f5b, #8ecfc5); }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; color: var(--ink);
  background: light-dark(#fdfcf9, #17191b); font: 1rem/1.5 'Source Sans', system-ui, sans-serif; }
main { width: min(22rem, calc(100vw - 3rem)); }
h1 { font: 600 2rem/1.2 'Source Serif', Georgia, serif; letter-spacing: -0.01em; margin: 0 0 0.25rem; }
p { margin: 0 0 1.5rem; } [role=alert] { color: light-dark(#9b2c2c, #f0a3a3); }
label { display: block; font-weight: 600; margin-bottom: 0.35rem; }
input[type=password] { box-sizing: border-box; width: 100%; font: inherit; padding: 0.6rem 0.7rem; color: inherit;
  background: light-dark(#fff, #202326); border: 1px solid var(--line); border-radius: 0.4rem; }
button { margin-top: 1rem; width: 100%; font: inherit; font-weight: 600; padding: 0.6rem; border: 0; cursor: pointer;
  border-radius: 0.4rem; color: light-dark(#fff, #17191b); background: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
"""
