"""The browser side as a server: Streamlit's application behind our gate; `longdoc ui` starts it."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.middleware import Middleware
from starlette.routing import Route
from streamlit.starlette import App

from app import entry, services
from app.assets import Assets
from app.gate import Gate, sign_in, sign_out
from indexer import LongdocError, load_settings


@asynccontextmanager
async def _lifespan(app: App) -> AsyncIterator[None]:
    """Load the model while the first person still types."""
    threading.Thread(target=_warm, name="warm", daemon=True).start()
    yield


def _warm() -> None:
    try:
        services.warm()
    except LongdocError as error:  # the pages say the same to whoever comes
        logging.getLogger("longdoc.app").info("not warmed up: %s", error)


app = App(
    "main.py",
    lifespan=_lifespan,
    routes=[
        *entry.routes(),
        Route("/login", sign_in, methods=["GET", "POST"]),
        Route("/logout", sign_out, methods=["GET"]),
    ],
    middleware=[Middleware(Gate, settings=load_settings()), Middleware(Assets)],
)
