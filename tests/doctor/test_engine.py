from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from indexer.doctor import engine
from indexer.doctor.machine import Cores, Processor
from indexer.doctor.report import Level
from indexer.encode import Calibration, Proof, Trial
from indexer.settings import Settings

PROOF = Proof(
    encoder="e5-small",
    fingerprint="ab" * 32,
    dimension=384,
    max_tokens=506,
    torch="2.13.0",
    cuda=None,
    instruction_set="AVX2",
    threads=2,
    openmp=("libgomp",),
    load_seconds=1.0,
    encode_seconds=0.1,
    peak_mb=600.0,
    cut="no network interface",
    attempts=(),
    related=0.8,
    unrelated=0.7,
)
AVX2 = Processor("chip", frozenset({"avx2"}))
TWO = Cores(2, 2, 2, None)


def test_a_proof_in_order_gives_lines_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "prove", lambda _name: PROOF)
    findings = list(engine.proof_findings("e5-small", AVX2, TWO))
    assert [finding.level for finding in findings] == [Level.OK] * 5


def test_an_attempt_to_reach_the_network_is_told() -> None:
    finding = engine.offline_finding(replace(PROOF, attempts=("socket.connect ('198.51.100.7', 443)",)))
    assert finding.level is Level.WARN
    assert "198.51.100.7" in finding.text


def test_an_encoder_that_understands_nothing_is_told() -> None:
    assert engine.offline_finding(replace(PROOF, related=0.6)).level is Level.WARN


def test_a_cuda_build_is_a_warning_only_without_a_gpu() -> None:
    built = replace(PROOF, cuda="13.0")
    assert engine.build_finding(built, gpu=False).level is Level.WARN
    assert engine.build_finding(built, gpu=True).level is Level.OK
    assert engine.build_finding(PROOF, gpu=False).level is Level.OK


def test_threads_and_runtimes_that_waste_cores_are_told() -> None:
    assert engine.threads_finding(replace(PROOF, threads=8), TWO).level is Level.WARN
    assert engine.threads_finding(replace(PROOF, threads=1), TWO).level is Level.WARN
    assert engine.openmp_finding(replace(PROOF, openmp=("libgomp", "libiomp5"))).level is Level.WARN
    assert engine.instructions_finding(replace(PROOF, instruction_set="DEFAULT"), AVX2).level is Level.WARN
    assert engine.instructions_finding(
        replace(PROOF, instruction_set="DEFAULT"), Processor("old", frozenset())
    ).level is (Level.OK)


def test_an_encoder_that_is_not_there_is_a_failure_with_its_sentence(tmp_path: Path) -> None:
    settings = Settings(library=tmp_path / "library", cache=tmp_path / "cache")
    (finding,) = engine.encoder_findings(str(tmp_path / "nothing"), settings)
    assert finding.level is Level.FAIL
    assert "nothing" in finding.text


def test_the_installed_packages_are_all_there() -> None:
    assert engine.versions_finding().level is Level.OK


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_PACKAGES", ("torch", "no-such-package"))
    finding = engine.versions_finding()
    assert finding.level is Level.FAIL
    assert "no-such-package" in finding.advice


def test_the_calibration_in_use_is_shown_with_what_was_refused_and_what_is_set(tmp_path: Path) -> None:
    settings = Settings(library=tmp_path, cache=tmp_path)
    assert "not measured yet" in engine.calibration_finding(None, settings).text
    trials = (
        Trial("float32", 2, 2048, 3000.0, 1.0),
        Trial("bfloat16", 2, 2048, 0.0, 0.0, "it takes 9.1 times as long"),
    )
    measured = Calibration(
        "e5-small", "ab" * 32, "chip", "2.13.0", "float32", 2, 4096, 3000.0, 20_000, 5.0, "2026-01-01T00:00:00", trials
    )
    text = engine.calibration_finding(measured, replace(settings, threads=1)).text
    for part in ("float32, 2 threads, batches of 4096 tokens", "bfloat16 refused: it takes 9.1", "threads=1"):
        assert part in text
