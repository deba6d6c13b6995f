"""The verb that checks a library: verify."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.opening import open_library
from indexer.cli.output import ExitCode, print_json, say, shown
from indexer.cli.waiting import progress_bar, record

if TYPE_CHECKING:
    from indexer.cli import Context
    from indexer.upkeep import Sampled, Verification


@click.command("verify")
@click.option("--repair", is_flag=True, help="Make anew what can be derived from the rest.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Encode N chunks again in float32, and compare.")
@click.option("--wait", is_flag=True, help="Wait while another process writes to the library.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def verify_command(context: Context, repair: bool, sample: int | None, wait: bool, as_json: bool) -> ExitCode:
    """Check that the library is whole: its file, every document, what is derived from them, and your files.

    Ends with 0 when all is right or was repaired, with 3 when `--repair` would mend it, with 1 when documents are
    damaged: then `longdoc restore` brings a backup back, and `longdoc add` reads files again.
    """
    from indexer.upkeep import verify

    exact = replace(context, settings=replace(context.settings, precision="float32"))
    with open_library(exact, write=repair) as library:
        locked = library.write_lock(-1 if wait else 0) if repair else nullcontext()
        with locked, progress_bar(context) as progress:
            found = verify(library, repair=repair, sample=sample or 0, watch=progress)
    if context.log_json:
        record("done", documents=found.documents, sound=found.sound)
    if as_json:
        print_json(_verification_json(found))
    else:
        for finding in found.findings:
            where = f"document {finding.document_id}: " if finding.document_id is not None else ""
            click.echo(shown(f"{finding.severity.value:<8} {where}{finding.what}"))
        if found.sampled is not None:
            click.echo(
                f"{len(found.sampled.cosines)} chunks encoded again in float32: cosine to what is stored "
                f"{found.sampled.least:.5f} at least, {found.sampled.mean:.5f} on average."
            )
        say(_verdict(found), quiet=context.quiet or context.log_json)
    if found.damaged:
        return ExitCode.FAILED
    return ExitCode.DONE if found.sound else ExitCode.SOME_FAILED


def _verdict(found: Verification) -> str:
    if found.damaged:
        return (
            f"The library is damaged: {len(found.affected)} of {found.documents} documents are affected; the others "
            "can be read. `longdoc restore FILE --replace` brings a backup back; `longdoc remove ID` and `longdoc add` "
            "read a document anew."
        )
    if found.repaired:
        return f"Repaired: {'; '.join(found.repaired)}."
    if found.derived:
        return "Nothing is lost. `longdoc verify --repair` makes anew what is wrong."
    return f"All {found.documents} documents are whole."


def _verification_json(found: Verification) -> dict[str, Any]:
    return {
        "sound": found.sound,
        "documents": found.documents,
        "affected": list(found.affected),
        "repaired": list(found.repaired),
        "findings": [
            {"severity": one.severity.value, "what": one.what, "document": one.document_id} for one in found.findings
        ],
    } | ({} if found.sampled is None else {"sampled": _sampled_json(found.sampled)})


def _sampled_json(sampled: Sampled) -> dict[str, Any]:
    return {
        "chunks": [
            {"chunk": chunk, "document": document, "cosine": round(cosine, 6)}
            for chunk, document, cosine in zip(
                sampled.chunk_ids.tolist(), sampled.document_ids.tolist(), sampled.cosines.tolist(), strict=True
            )
        ],
        "least": round(sampled.least, 6),
        "mean": round(sampled.mean, 6),
    }
