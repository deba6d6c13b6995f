"""The first page a browser gets: Streamlit's own, told where its server is, so that no address of ours is probed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

PAGES = ("", "document", "library", "duplicates", "map", "health")
_ONE_STEP = """<script>{
  const push = history.pushState.bind(history);
  let last = { time: -Infinity, search: null };
  history.pushState = (state, title, url) => {
    const to = new URL(url ?? location.href, location.href);
    const between = performance.now() - last.time < 5000 && last.search === to.search && location.search === to.search;
    if (between && to.pathname !== location.pathname) { history.replaceState(state, title, url); return; }
    last = to.pathname === location.pathname && to.search
      ? { time: performance.now(), search: to.search } : { time: -Infinity, search: null };
    push(state, title, url);
  };
}</script>"""
"""Going to another page, Streamlit first puts the new page's query behind the old page's path, a step of its own in the
browser's history: "back" would lead to the old page with a query that is not its own. The two become one step."""
_TOLD = f"""{_ONE_STEP}<base href="/"><script>window.__streamlit = {{
  BACKEND_BASE_URL: window.location.origin + '/', MAIN_PAGE_BASE_URL: window.location.origin + '/' }};</script>"""


@cache
def first_page() -> str:
    """Streamlit's index page with our title; without it, it would ask below /document for what lies at /."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    return page.replace("<title>Streamlit</title>", "<title>longdoc</title>").replace("<head>", f"<head>{_TOLD}", 1)


async def _answer(request: Request) -> HTMLResponse:
    return HTMLResponse(first_page(), headers={"Cache-Control": "no-cache"})


def routes() -> list[Route]:
    """One route for each page of the application."""
    return [Route(f"/{page}", _answer, methods=["GET"]) for page in PAGES]
