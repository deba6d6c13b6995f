"""The browser side as a server: Streamlit's application behind our gate; `longdoc ui` starts it."""

from __future__ import annotations

from starlette.middleware import Middleware
from starlette.routing import Route
from streamlit.starlette import App

from app.gate import Gate, sign_in, sign_out
from indexer import load_settings

app = App(
    "main.py",
    routes=[Route("/login", sign_in, methods=["GET", "POST"]), Route("/logout", sign_out, methods=["GET"])],
    middleware=[Middleware(Gate, settings=load_settings())],
)
