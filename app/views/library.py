"""The library page: every document with its state, and the ways to add, refresh, tag and remove."""

from app import access, adding, components, services, shelf, work
from app.components import html, say
from app.markup import escaped
from indexer import LibraryNotFoundError


def show() -> None:
    """The work going on, the forms for editors, then the table."""
    html(f'<h1 class="ld-h1">{escaped(say("nav.library"))}</h1>')
    work.panel("add", "sync")
    if access.may_edit():
        adding.forms()
    try:
        documents = services.documents()
    except LibraryNotFoundError:
        documents = []
    if not documents:
        components.library_is_empty(here=True)
        return
    shelf.actions(shelf.table(documents))


show()
