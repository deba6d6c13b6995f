"""The first page a browser gets: Streamlit's own, told where its server is, so that no address of ours is probed.

It paints the head of the page before any script runs, and names the scripts and fonts of what the start page shows:
the browser would else learn of each only from the one before.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from app import assets

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
_SHOWN_FIRST = ("BidiComponent", "Html", "TextInput", "ButtonGroup", "Selectbox", "Popover")
_FONTS = ("SourceSerifVariable-Roman", "MaterialSymbols-Rounded")
_HEAD = """<style>
.ld-first { color-scheme: light dark; position: fixed; inset: 0 0 auto; z-index: 1; height: 3.75rem; padding: 0 1rem;
  display: flex; align-items: center; gap: 0.55rem; pointer-events: none; background: light-dark(#fdfcf9, #17191b);
  border-bottom: 1px solid light-dark(#e3ded2, #33373a); color: light-dark(#23272b, #e7e4dd);
  font: 600 1.15rem 'Source Serif', 'Noto Serif CJK SC', Georgia, serif; letter-spacing: -0.01em;
  box-sizing: border-box; }
.ld-first svg { width: 1.5rem; height: 1.5rem; }
html:not(:has([data-testid='stApp'])) { color-scheme: light dark; background: light-dark(#fdfcf9, #17191b); }
</style>"""
_ROOT = '<div id="root"></div>'


@cache
def first_page() -> str:
    """Streamlit's index page with our title; without it, it would ask below /document for what lies at /."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    page = page.replace("<title>Streamlit</title>", "<title>longdoc</title>").replace("<head>", f"<head>{_TOLD}", 1)
    page = page.replace("</head>", f"{_HEAD}{_named_early(page)}</head>", 1)
    return page.replace(_ROOT, _frame() + _ROOT, 1)


def _named_early(page: str) -> str:
    """Links to the scripts and fonts of the start page that Streamlit's page does not name itself."""
    scripts = [address for address in assets.needed_by(_SHOWN_FIRST) if address not in page]
    fonts = [address for name in _FONTS for address in assets.files() if address.startswith(f"media/{name}.")]
    return "".join(
        [f'<link rel="modulepreload" crossorigin href="./static/{address}">' for address in scripts]
        + [f'<link rel="preload" as="font" crossorigin href="./static/{address}">' for address in fonts]
    )


def _frame() -> str:
    """The head of every page, shown until our style sheet hides it: that comes with the head Streamlit draws."""
    icon = Path(__file__).with_name("icon.svg").read_text(encoding="utf-8").strip()
    return f'<div class="ld-first" aria-hidden="true">{icon}longdoc</div>'


async def _answer(request: Request) -> HTMLResponse:
    return HTMLResponse(first_page(), headers={"Cache-Control": "no-cache"})


def routes() -> list[Route]:
    """One route for each page of the application."""
    return [Route(f"/{page}", _answer, methods=["GET"]) for page in PAGES]
