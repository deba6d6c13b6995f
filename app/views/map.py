"""The map page: what the collection is about."""

from app import chart, components, reports, services, work
from app.components import html, say
from app.markup import escaped


def show() -> None:
    """The map as it was made last, or the way to make it."""
    if services.empty():
        components.library_is_empty()
        return
    html(f'<h1 class="ld-h1">{escaped(say("nav.map"))}</h1>')
    work.panel("clusters")
    clustering = reports.clusters()
    if clustering is None:
        components.lead(say("map.none"))
    else:
        if clustering.stale:
            components.warning(say("map.stale"))
        chart.show(clustering)
    work.offer("clusters", say("map.again" if clustering else "map.make"), again=clustering is not None)


show()
