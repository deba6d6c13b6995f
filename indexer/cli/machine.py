"""The verbs about this machine: doctor and probe."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from indexer.cli import Context
from indexer.cli.output import ExitCode, print_json, say
from indexer.doctor import (
    WHOLE_SECONDS,
    DocumentDiagnosis,
    Finding,
    Level,
    Listener,
    examine,
    examine_document,
    verdict,
)
from indexer.doctor.report import worst

_MARKS = {Level.OK: ("ok  ", "green"), Level.WARN: ("warn", "yellow"), Level.FAIL: ("FAIL", "red")}


@click.command("doctor")
@click.argument("file", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--no-proof", is_flag=True, help="Leave out the offline proof, which loads the encoder (some seconds).")
@click.option(
    "--seconds",
    type=click.FloatRange(1),
    default=WHOLE_SECONDS,
    show_default=True,
    help="With FILE: how long to encode the whole of it at most.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def doctor_command(context: Context, file: Path | None, no_proof: bool, seconds: float, as_json: bool) -> ExitCode:
    """Say what is right and wrong with this machine, or with one document.

    Each line is ok, warn or FAIL, with what to do. With FILE, that document is walked through every layer - input,
    environment, parameters, model - and the layer where it goes wrong is named; nothing is stored.

    The exit code is 3 when a line says FAIL.
    """
    if file is not None:
        return _doctor_file(context, file, seconds, as_json=as_json)
    findings = []
    for finding in examine(context.settings, prove=not no_proof):
        findings.append(finding)
        if not as_json:
            _show(finding, findings[-2].layer if len(findings) > 1 else "")
    level = worst(findings)
    if as_json:
        print_json({"level": level, "findings": [asdict(finding) for finding in findings]})
    else:
        _conclude(findings)
    return ExitCode.SOME_FAILED if level is Level.FAIL else ExitCode.DONE


def _doctor_file(context: Context, file: Path, seconds: float, *, as_json: bool) -> ExitCode:
    from indexer.encode import load_encoder

    encoder = load_encoder(context.settings.encoder, settings=context.settings)
    layers = [""]

    def found(finding: Finding) -> None:
        if not as_json:
            _show(finding, layers[-1])
            layers.append(finding.layer)

    listener = Listener(lambda line: say(f"... {line}", quiet=context.quiet or as_json), found)
    result = examine_document(file, context.settings, encoder, listener, seconds=seconds)
    if as_json:
        print_json(_document_json(result))
    else:
        click.echo(f"\n{verdict(result)}")
    return ExitCode.SOME_FAILED if result.diagnosis.level is Level.FAIL else ExitCode.DONE


def _document_json(result: DocumentDiagnosis) -> dict[str, object]:
    return {
        "path": str(result.path),
        "level": result.diagnosis.level,
        "culprit": result.culprit,
        "verdict": verdict(result),
        "chars": result.chars,
        "chunks": result.chunks,
        "sample": asdict(result.sample) if result.sample else None,
        "whole": asdict(result.whole) if result.whole else None,
        "findings": [asdict(finding) for finding in result.diagnosis.findings],
    }


def _show(finding: Finding, layer_before: str) -> None:
    """Print a line, with its layer's name above the first of a layer."""
    if finding.layer != layer_before:
        click.secho(f"{finding.layer}", bold=True)
    mark, colour = _MARKS[finding.level]
    click.echo(f"  {click.style(mark, fg=colour)}  {finding.name}: {finding.text}")
    if finding.advice:
        click.echo(f"        {finding.advice}")


def _conclude(findings: list[Finding]) -> None:
    fails = sum(finding.level is Level.FAIL for finding in findings)
    warns = sum(finding.level is Level.WARN for finding in findings)
    if fails or warns:
        click.echo(f"\n{fails} to repair, {warns} to look at, {len(findings) - fails - warns} in order.")
    else:
        click.echo(f"\nAll {len(findings)} lines are in order.")
