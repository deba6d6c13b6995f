"""The verbs clusters and classify: what the collection is about, and tags learnt from labelled documents."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.documents import name_of
from indexer.cli.opening import open_library
from indexer.cli.output import ExitCode, print_json, print_table, say, shown
from indexer.cli.waiting import progress_bar, record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indexer.cli import Context
    from indexer.clusters import Classification, Clustering, Growth
    from indexer.library import Library

_CENTRAL_SHOWN = 3
_MONTHS_SHOWN = 36
"""A longer time is shown in years."""
_BARS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class _Request:
    """What was asked of `longdoc clusters`."""

    k: int | None
    seed: int
    fresh: bool
    inside: int | None
    rename: tuple[int, str] | None
    show: bool

    @property
    def keeps(self) -> bool:
        """Whether the library is written to."""
        return self.inside is None and not self.show


@click.command("clusters")
@click.option("-k", "k", type=click.IntRange(1, 1000), help="A fixed number of clusters (else it is found).")
@click.option("--seed", type=int, default=0, show_default=True, help="Where the search for clusters starts.")
@click.option("--fresh", is_flag=True, help="Forget the clusters there were, with their ids, labels and map.")
@click.option("--show", is_flag=True, help="Show the clusters as they were kept; new documents go to the nearest one.")
@click.option("--inside", type=int, metavar="ID", help="Look into one cluster: its sub-topics; nothing is kept.")
@click.option("--rename", type=(int, str), metavar="ID LABEL", help="Give a cluster a label of your own.")
@click.option("--chunks", is_flag=True, help="Topics of chunks: a long document may belong to several.")
@click.option("--plot", "plot_path", type=click.Path(path_type=Path), help="Draw the map to this .html or .png file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def clusters_command(
    context: Context, /, chunks: bool, plot_path: Path | None, as_json: bool, **asked: Any
) -> ExitCode:
    """Find what the collection is about: clusters with labels, outliers and a map of the documents.

    Ids and labels live on when it is run again. A cluster can filter a search: --where cluster=ID.
    """
    from indexer.clusters import growth, plot

    request = _Request(**asked)
    quiet = context.quiet or context.log_json
    started = time.monotonic()
    if chunks:
        with open_library(context) as library:
            return _print_chunk_topics(context, library, request, as_json)
    with open_library(context, write=request.keeps) as library:
        clustering = _clustering(context, library, request)
        titles = {document.id: name_of(document) for document in library.store.documents()}
        months = growth(library, clustering)
    if plot_path is not None:
        plot(clustering, titles, plot_path)
        say(f"The map is in {plot_path}.", quiet=quiet)
    if context.log_json:
        counts = {"clusters": len(clustering.clusters), "documents": len(clustering.points)}
        seconds = round(time.monotonic() - started, 3)
        record("done", **counts, outliers=len(clustering.outliers), criterion=clustering.criterion, seconds=seconds)
    if as_json:
        print_json(_clustering_json(clustering, months))
        return ExitCode.DONE
    _print_clustering(clustering, titles, months)
    outliers = f"{len(clustering.outliers)} of {len(clustering.points)} documents are outliers"
    say(f"{clustering.criterion[:1].upper()}{clustering.criterion[1:]}; {outliers}.", quiet=quiet)
    return ExitCode.DONE


def _clustering(context: Context, library: Library, request: _Request) -> Clustering:
    """The clustering that was asked for: renamed, looked into, as kept, or made anew."""
    from indexer.clusters import ClusterOptions, cluster_documents, load_clusters, rename_cluster, subclusters

    options = ClusterOptions(request.k, request.seed, request.fresh)
    if request.rename is not None:
        return rename_cluster(library, *request.rename)
    if request.inside is not None:
        return subclusters(library, request.inside, options)
    if request.show and (kept := load_clusters(library)) is not None:
        return kept
    if request.show:
        raise click.ClickException("The library has no clusters yet. Run `longdoc clusters`.")
    with progress_bar(context) as progress:
        return cluster_documents(library, options, progress)


def _clustering_json(clustering: Clustering, months: tuple[Growth, ...]) -> dict[str, Any]:
    return {
        "clusters": [
            {
                "id": cluster.id,
                "label": cluster.label,
                "size": cluster.size,
                "terms": list(cluster.terms),
                "documents": list(cluster.documents),
                "central": list(cluster.central),
                "topic": cluster.topic,
                "edited": cluster.edited,
                "growth": {month.period: month.documents for month in months if month.cluster == cluster.id},
            }
            for cluster in clustering.clusters
        ],
        "topics": [{"id": t.id, "label": t.label, "clusters": list(t.clusters)} for t in clustering.topics],
        "outliers": list(clustering.outliers),
        "map": [{"document": p.document, "x": p.x, "y": p.y, "cluster": p.cluster} for p in clustering.points],
        "criterion": clustering.criterion,
        "seed": clustering.seed,
        "stale": clustering.stale,
    }


def _print_clustering(clustering: Clustering, titles: Mapping[int, str], months: tuple[Growth, ...]) -> None:
    topics = {topic.id: topic.label for topic in clustering.topics}
    for cluster in sorted(clustering.clusters, key=lambda c: (c.topic or 0, -c.size, c.id)):
        above = f"  [{topics[cluster.topic]}]" if cluster.topic in topics else ""
        click.echo(shown(f"{cluster.id:>4}  {cluster.label} ({cluster.size}){above}"))
        if line := growth_line([month for month in months if month.cluster == cluster.id]):
            click.echo(f"               {line}")
        for document in cluster.central[:_CENTRAL_SHOWN]:
            click.echo(shown(f"        {document:>5}  {titles.get(document, '')}"))
    for document in clustering.outliers:
        click.echo(shown(f"   -  outlier: {document}  {titles.get(document, '')}"))


def growth_line(months: Sequence[Growth]) -> str:
    """A cluster's documents over time in a line of bars, ``2023 ▂▁▅█ 2026``; empty when one period has them all."""
    counts: Counter[int] = Counter()
    for month in months:
        counts[int(month.period[:4]) * 12 + int(month.period[5:7] or 1) - 1] += month.documents
    if len(counts) < 2:
        return ""
    step = 12 if max(counts) - min(counts) >= _MONTHS_SHOWN else 1
    first, last = min(counts) // step, max(counts) // step
    heights = [sum(counts[at * step + month] for month in range(step)) for at in range(first, last + 1)][
        -_MONTHS_SHOWN:
    ]
    bars = "".join(_BARS[math.ceil(height / max(heights) * (len(_BARS) - 1))] for height in heights)
    names = [f"{at // 12}-{at % 12 + 1:02d}" if step == 1 else str(at) for at in (first, last)]
    return f"{names[0]} {bars} {names[1]}"


def _print_chunk_topics(context: Context, library: Library, request: _Request, as_json: bool) -> ExitCode:
    from indexer.clusters import ClusterOptions, chunk_topics

    generation = library.store.generation()
    topics = chunk_topics(library, ClusterOptions(request.k, request.seed))
    if context.log_json:
        record("done", topics=len(topics), chunks=sum(len(topic.chunks) for topic in topics))
    if as_json:
        print_json(
            {
                "topics": [
                    {
                        "id": topic.id,
                        "label": topic.label,
                        "terms": list(topic.terms),
                        "size": len(topic.chunks),
                        "central": list(topic.central),
                        "documents": [{"id": document, "chunks": count} for document, count in topic.documents],
                    }
                    for topic in topics
                ],
                "generation": generation,
            }
        )
        return ExitCode.DONE
    rows = [(str(t.id), str(len(t.chunks)), str(len(t.documents)), t.label) for t in topics]
    print_table(("ID", "CHUNKS", "DOCUMENTS", "ABOUT"), rows)
    return ExitCode.DONE


@click.command("classify")
@click.option(
    "--from",
    "labels",
    required=True,
    type=click.Path(path_type=Path),
    help="A CSV file: a document (id, path, file name or title) and its label in each row.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1),
    default=0.8,
    show_default=True,
    help="The least probability at which a document is tagged.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be tagged, and tag nothing.")
@click.option("--seed", type=int, default=0, show_default=True, help="How the labelled documents are divided in folds.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def classify_command(
    context: Context, labels: Path, confidence: float, dry_run: bool, seed: int, as_json: bool
) -> ExitCode:
    """Learn from documents you have labelled, say how well that works, and tag the others."""
    from indexer.clusters import ClassifyOptions, classify

    with open_library(context, write=not dry_run) as library:
        result = classify(library, labels, ClassifyOptions(confidence, not dry_run, seed))
        titles = {document.id: name_of(document) for document in library.store.documents()}
    if as_json:
        print_json(_classification_json(result))
        return ExitCode.DONE
    rows = [(str(a.document), a.label, f"{a.confidence:.2f}", titles[a.document]) for a in result.assigned]
    if rows:
        print_table(("ID", "LABEL", "SURE", "DOCUMENT"), rows)
    for name in result.unknown:
        say(f"No single document is called {name!r}; its row was left out.", quiet=context.quiet)
    say(
        f"Learnt {len(result.classes)} labels from {result.labelled} documents; of these {result.accuracy:.1%} were "
        f"guessed right in {result.folds}-fold cross-validation (macro F1 {result.macro_f1:.2f}; always the most "
        f"frequent label: {result.majority:.1%}). {'Would tag' if dry_run else 'Tagged'} {len(result.assigned)}, "
        f"left {result.undecided} undecided.",
        quiet=context.quiet,
    )
    return ExitCode.DONE


def _classification_json(result: Classification) -> dict[str, Any]:
    return {
        "classes": list(result.classes),
        "labelled": result.labelled,
        "accuracy": result.accuracy,
        "macro_f1": result.macro_f1,
        "majority": result.majority,
        "folds": result.folds,
        "assigned": [{"document": a.document, "label": a.label, "confidence": a.confidence} for a in result.assigned],
        "undecided": result.undecided,
        "unknown": list(result.unknown),
    }
