"""The map page: what the collection is about."""

from app import chart, components, services
from app.components import html, say
from app.markup import escaped


def show() -> None:
    """The map as it was made last, or the way to make it."""
    if services.empty():
        components.library_is_empty()
        return
    html(f'<h1 class="ld-h1">{escaped(say("nav.map"))}</h1>')
    clustering = services.clusters()
    if clustering is None:
        html(f'<p class="ld-lead">{escaped(say("map.none"))}</p>')
        chart.make(again=False)
        return
    if clustering.stale:
        components.warning(say("map.stale"))
    chart.show(clustering)
    chart.make(again=True)


show()
