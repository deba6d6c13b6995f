"""Near-duplicates on the page: groups with what is proposed to be kept, and two documents side by side."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

import streamlit as st

from app import address, components, links, services
from app.components import html, say
from app.markup import escaped, label, marked
from app.messages import engine
from app.reports import FoundDuplicates
from indexer import Comparison, Difference, Fact, Group, Span, StoredDocument

GROUPS_A_PAGE = 10
_DIFFERENCES_SHOWN = 40
_LONGEST_DIFF = 4000
_WORD = re.compile(r"[㐀-鿿぀-ヿ]|\d+(?:[.,:/-]\d+)*|\w+|[^\w\s]|\s+")


def show(found: FoundDuplicates) -> None:
    """What was compared, the groups a page at a time, and the texts that stand in many documents."""
    if found.stale:
        components.warning(say("pairs.stale"))
    components.note(
        say(
            "pairs.compared",
            count=f"{found.compared:,}",
            groups=len(found.groups),
            when=components.moment(found.started),
        )
    )
    if not found.groups:
        components.lead(say("pairs.none"))
    pages = max(-(-len(found.groups) // GROUPS_A_PAGE), 1)
    page = min(max(address.number("p", 1) or 1, 1), pages)
    for group in found.groups[(page - 1) * GROUPS_A_PAGE : page * GROUPS_A_PAGE]:
        _group(group)
    if pages > 1:
        components.pager(page, pages)
    if found.boilerplate:
        with st.expander(say("pairs.boilerplate")):
            for one in found.boilerplate:
                html(
                    f'<p class="ld-where">{escaped(say("pairs.in_documents", count=one.documents))}</p>'
                    f'<p class="ld-text ld-small">{escaped(one.text[:400].strip())}</p>'
                )


def _group(group: Group) -> None:
    with st.container(border=True, key=f"group_{group.id}"):
        head = say("pairs.shared", share=f"{group.similarity * 100:.0f}") if group.pairs else ""
        rows = "".join(
            f"<li>{links.link(components.title(document), links.address('document', {'id': document.id}))}"
            f'<span class="ld-where">{_keep(group, document.id)}</span>'
            f'<span class="ld-snippet">{escaped(_paths(document))}</span></li>'
            for document in group.documents
        )
        html(
            f'<h2 class="ld-h2">{escaped(say(f"relation.{group.relation}"))}'
            f'<span class="ld-where"> {escaped(head)}</span></h2><ul class="ld-list">{rows}</ul>'
        )
        if group.pairs:
            _compare_buttons(group)


def _paths(document: StoredDocument) -> str:
    return " · ".join(map(components.shown_path, document.paths[:4]))


def _keep(group: Group, document_id: int) -> str:
    if len(group.documents) < 2 or document_id != group.keep:
        return ""
    return f" · {escaped(say('pairs.keep', reason=engine(group.reason)))}"


def _compare_buttons(group: Group) -> None:
    names = {document.id: components.title(document) for document in group.documents}
    pairs = sorted(group.pairs, key=lambda pair: -pair.similarity)[:6]
    with st.container(horizontal=True, key=f"compare_{group.id}"):
        for pair in pairs:
            first, second = (pair.b, pair.a) if pair.a == group.keep else (pair.a, pair.b)
            both = {"a": label(names.get(first, ""), 32), "b": label(names.get(second, ""), 32)}
            if st.button(
                say("pairs.compare") if len(pairs) == 1 else say("pairs.compare_two", **both),
                key=f"pair_{pair.a}_{pair.b}",
                icon=":material/compare_arrows:",
            ):
                links.go(links.address("duplicates", {"a": first, "b": second}))


def side_by_side(comparison: Comparison) -> None:
    """Two documents and every place where they differ, the weightiest first."""
    pair = comparison.pair
    left, right = services.document(pair.a), services.document(pair.b)
    shares = say("pairs.shares", a=f"{pair.share_a_in_b * 100:.0f}", b=f"{pair.share_b_in_a * 100:.0f}")
    back = links.link("← " + say("pairs.back"), links.address("duplicates", {}))
    html(
        f'<p class="ld-where">{back}</p><h1 class="ld-h1">{escaped(say(f"relation.{pair.relation}"))}</h1>'
        f'<p class="ld-where">{escaped(shares)}</p>'
    )
    heads = "".join(
        f'<div role="columnheader">{links.link(components.title(one), links.address("document", {"id": one.id}))}</div>'
        for one in (left, right)
    )
    rows = "".join(_row(comparison, difference) for difference in comparison.differences[:_DIFFERENCES_SHOWN])
    if not rows:
        html(f'<p class="ld-lead">{escaped(say("pairs.no_difference"))}</p>')
        return
    html(
        f'<div class="ld-diff" role="table"><div class="ld-diff-row ld-diff-head" role="row">{heads}</div>{rows}</div>'
    )
    more = len(comparison.differences) - _DIFFERENCES_SHOWN
    if more > 0:
        components.note(say("pairs.more", count=more))


def _row(comparison: Comparison, difference: Difference) -> str:
    gone, come = changed_spans(difference.before, difference.after)
    cells = []
    for text, spans, css, document, span in (
        (difference.before, gone, "ld-gone", comparison.pair.a, difference.before_span),
        (difference.after, come, "ld-come", comparison.pair.b, difference.after_span),
    ):
        there = links.address("document", {"id": document, "at": span.start}) if span else ""
        place = f'<p class="ld-where">{links.link(say("search.open"), there)}</p>' if there and text.strip() else ""
        cells.append(
            f'<div role="cell" class="{css}"><p class="ld-text ld-small">{marked(text, spans)}</p>{place}</div>'
        )
    facts = "".join(f'<span class="ld-fact">{escaped(_fact(fact))}</span>' for fact in difference.facts)
    name = say(f"difference.{difference.kind}")
    kind = escaped(name if difference.times == 1 else say("difference.times", kind=name, count=difference.times))
    return (
        f'<div class="ld-diff-kind" role="row"><div role="cell">{kind} {facts}</div></div>'
        f'<div class="ld-diff-row" role="row">{"".join(cells)}</div>'
    )


def _fact(fact: Fact) -> str:
    return f"{', '.join(fact.before) or '–'} → {', '.join(fact.after) or '–'}"


def changed_spans(before: str, after: str) -> tuple[Sequence[Span], Sequence[Span]]:
    """Which words of two texts are not in the other one; everything when one is empty, nothing when both are long."""
    if not before.strip() or not after.strip() or len(before) + len(after) > _LONGEST_DIFF:
        return ([Span(0, len(before))] if not after.strip() else []), (
            [Span(0, len(after))] if not before.strip() else []
        )
    words = [list(_WORD.finditer(text)) for text in (before, after)]
    matcher = difflib.SequenceMatcher(
        None, [w.group() for w in words[0]], [w.group() for w in words[1]], autojunk=False
    )
    gone: list[Span] = []
    come: list[Span] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "equal":
            gone += [Span(words[0][a].start(), words[0][b - 1].end())] if b > a else []
            come += [Span(words[1][c].start(), words[1][d - 1].end())] if d > c else []
    return gone, come
