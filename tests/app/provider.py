"""A tiny OpenID Connect provider on loopback: whoever comes is signed in at once under one mail address."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "longdoc", "a client's secret"


class Provider(ThreadingHTTPServer):
    """The server; ``asked`` holds the parameters of each request for signing in."""

    def __init__(self, mail: str) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.mail, self.key = mail, RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
        self.asked: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def token(self) -> str:
        """The signed statement who signed in, for the last one who asked."""
        now = int(time.time())
        claims = {"iss": self.url, "sub": "1", "aud": CLIENT, "iat": now, "exp": now + 600, "email": self.mail}
        if nonce := self.asked[-1].get("nonce"):
            claims["nonce"] = nonce
        return jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key)


class _Answer(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        parts, url = urlsplit(self.path), self.server.url
        if parts.path == "/.well-known/openid-configuration":
            self._json(
                {
                    "issuer": url,
                    "authorization_endpoint": f"{url}/authorize",
                    "token_endpoint": f"{url}/token",
                    "jwks_uri": f"{url}/keys",
                    "response_types_supported": ["code"],
                    "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": ["RS256"],
                }
            )
        elif parts.path == "/keys":
            self._json({"keys": [self.server.key.as_dict(private=False)]})
        elif parts.path == "/authorize":
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            self.server.asked.append(asked)
            self.send_response(302)
            self.send_header(
                "Location", f"{asked['redirect_uri']}?{urlencode({'code': 'abc', 'state': asked['state']})}"
            )
            self.end_headers()
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._json({"access_token": "x", "token_type": "Bearer", "expires_in": 600, "id_token": self.server.token()})

    def _json(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing: a test says what went wrong."""


@contextmanager
def provider(mail: str) -> Iterator[Provider]:
    """Run a provider for the length of a test."""
    with Provider(mail) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
