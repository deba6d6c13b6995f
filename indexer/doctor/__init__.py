"""Says what is right and wrong with this machine, this installation, the library, or one document."""

from __future__ import annotations

import os
from collections.abc import Iterator

from indexer.doctor.document import (
    WHOLE_SECONDS,
    DocumentDiagnosis,
    Listener,
    Measured,
    examine_document,
    verdict,
)
from indexer.doctor.engine import encoder_findings, proof_findings, versions_finding
from indexer.doctor.keeping import examine_keeping
from indexer.doctor.machine import examine_machine
from indexer.doctor.report import Diagnosis, Finding, Level
from indexer.machine import read_cores, read_processor
from indexer.settings import Settings

__all__ = [
    "Diagnosis",
    "DocumentDiagnosis",
    "Finding",
    "Level",
    "Listener",
    "Measured",
    "WHOLE_SECONDS",
    "diagnose",
    "examine",
    "examine_document",
    "verdict",
]


def examine(settings: Settings, *, prove: bool = True) -> Iterator[Finding]:
    """Every line of the diagnosis as soon as it is known; ``prove`` takes some seconds to load the encoder."""
    processor, cores = read_processor(), read_cores()
    yield from examine_machine(settings.library, os.environ)
    yield versions_finding()
    yield from encoder_findings(settings.encoder, settings)
    if prove:
        yield from proof_findings(settings.encoder, processor, cores)
    yield from examine_keeping(settings, processor)


def diagnose(settings: Settings, *, prove: bool = True) -> Diagnosis:
    """The whole diagnosis at once."""
    return Diagnosis(tuple(examine(settings, prove=prove)))
