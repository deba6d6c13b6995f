"""The map page: what the collection is about."""

from app import address, chart, components, links, reports, services, topics, work
from app.components import html, say
from app.markup import escaped
from indexer import Clustering


def show() -> None:
    """One cluster from inside when the address names it, else the map as it was made last, or the way to make it."""
    if services.empty():
        components.library_is_empty()
        return
    clustering = reports.clusters()
    inside = address.number("inside")
    if clustering is not None and inside is not None:
        show_inside(clustering, inside)
        return
    html(f'<h1 class="ld-h1">{escaped(say("nav.map"))}</h1>')
    work.panel("clusters", work.TOPICS)
    if clustering is None:
        components.lead(say("map.none"))
    else:
        if clustering.stale:
            components.warning(say("map.stale"))
        chart.show(clustering)
        topics.show(clustering)
        topics.show_growth(clustering, reports.growth_of(clustering))
    work.offer("clusters", say("map.again" if clustering else "map.make"), again=clustering is not None)
    if clustering is not None:
        show_subjects()


def show_subjects() -> None:
    """What the chunks are about, when that was looked for, and the way to look."""
    found = reports.chunk_subjects()
    html(f'<h2 class="ld-h2">{escaped(say("map.subjects"))}</h2>')
    components.note(say("map.subjects_lead"))
    if found is not None:
        topics.show_subjects(found)
    work.offer(work.TOPICS, say("map.subjects_again" if found else "map.subjects_make"), again=True)


def show_inside(clustering: Clustering, number: int) -> None:
    """The sub-topics of one cluster, and the way back."""
    html(f"<p>{links.link('← ' + say('map.whole'), links.address('map', {}), css='ld-back')}</p>")
    cluster = next((one for one in clustering.clusters if one.id == number), None)
    if cluster is None:
        components.lead(say("map.gone"))
        return
    html(f'<h1 class="ld-h1">{escaped(cluster.label)}</h1>')
    topics.rename(cluster)
    found = reports.inside(clustering, number)
    chart.show(found)
    topics.show(found, inside=True)


show()
