"""The engine: the encoder's files, its length against the chunking, torch's build, and the offline proof."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from indexer.doctor.report import Finding, Level, judge
from indexer.encode import Calibration, Proof, describe_calibration, describe_encoder, load_encoder, prove
from indexer.errors import EncoderError
from indexer.machine import Cores, Processor
from indexer.settings import Settings

LAYER = "engine"
_GPU = Path("/proc/driver/nvidia/version")
_PACKAGES = ("torch", "transformers", "sentence-transformers", "faiss-cpu", "tokenizers")


def versions_finding() -> Finding:
    """The versions of what the engine stands on; a missing package is a failure."""
    found, missing = [], []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    advice = f"Install {', '.join(missing)}: pip install -c constraints.txt ." if missing else ""
    return judge(LAYER, "packages", ", ".join(found), fail=advice)


def encoder_findings(name: str, settings: Settings) -> Iterator[Finding]:
    """The encoder's files and fingerprint, and whether chunks fit into its window."""
    try:
        spec = describe_encoder(name, settings)
        length = load_encoder(name, settings=settings).max_tokens
    except EncoderError as error:
        yield Finding(LAYER, "encoder", Level.FAIL, str(error), "Name another encoder, or reinstall the package.")
        return
    yield judge(
        LAYER,
        "encoder",
        f"{spec.name}, {spec.dimension} dimensions, files in order, fingerprint {spec.fingerprint[:12]}",
    )
    chunk = settings.chunk_tokens
    wide = f"Set chunk_tokens to {length} or less: longer chunks do not fit the encoder." if chunk > length else ""
    yield judge(LAYER, "length", f"chunks of {chunk} tokens, the encoder takes {length}", fail=wide)
    yield calibration_finding(describe_calibration(name, settings), settings)


def calibration_finding(calibration: Calibration | None, settings: Settings) -> Finding:
    """How the encoder works on this machine, what was refused and why, and what the settings overrule."""
    if calibration is None:
        text = "not measured yet: the first large `longdoc add` does it"
    else:
        refused = [f"{trial.precision} refused: {trial.refused}" for trial in calibration.trials if trial.refused]
        text = "; ".join(
            [
                f"{calibration.precision}, {calibration.threads} threads, "
                f"batches of {calibration.batch_tokens} tokens, {calibration.tokens_per_second:,.0f} tokens a second "
                f"when measured on {calibration.measured[:10]}",
                *refused,
                *(["other programs were at work then: it is measured again"] if calibration.disturbed else []),
            ]
        )
    chosen = {"precision": settings.precision, "threads": settings.threads, "batch_tokens": settings.batch_tokens}
    overruled = [f"{name}={value}" for name, value in chosen.items() if value not in ("auto", 0)]
    return judge(LAYER, "calibration", text + (f"; set by hand: {', '.join(overruled)}" if overruled else ""))


def proof_findings(name: str, processor: Processor, cores: Cores) -> Iterator[Finding]:
    """Load and encode with the network cut, and what that process shows of torch."""
    try:
        proof = prove(name)
    except EncoderError as error:
        yield Finding(
            LAYER, "offline proof", Level.FAIL, str(error), "Run `longdoc doctor` again after the lines above."
        )
        return
    yield offline_finding(proof)
    yield build_finding(proof, gpu=_GPU.exists())
    yield instructions_finding(proof, processor)
    yield threads_finding(proof, cores)
    yield openmp_finding(proof)


def offline_finding(proof: Proof) -> Finding:
    """Whether encoding worked without a network, without trying to reach one, and made sense."""
    text = (
        f"with {proof.cut}, it loaded in {proof.load_seconds:.1f} s, encoded two sentences in "
        f"{proof.encode_seconds:.2f} s and took {proof.peak_mb:.0f} MB; an English question is at {proof.related:.2f} "
        f"to its answer in Chinese and at {proof.unrelated:.2f} to an English aside"
    )
    if proof.attempts:
        text += f"; tried to reach: {', '.join(proof.attempts[:3])}"
        return judge(
            LAYER, "offline proof", text, warn="Something asked for the network and was refused. Please report it."
        )
    odd = proof.related <= proof.unrelated
    warn = "This encoder does not find an answer in another language; for several languages take a multilingual one."
    return judge(LAYER, "offline proof", text, warn=warn if odd else "")


def build_finding(proof: Proof, *, gpu: bool) -> Finding:
    """Torch's build against the hardware."""
    text = f"torch {proof.torch}, " + (f"built for CUDA {proof.cuda}" if proof.cuda else "built for the CPU")
    idle = bool(proof.cuda) and not gpu
    warn = "A CUDA build takes gigabytes and gains nothing without a GPU: install the CPU build (README, Install)."
    return judge(LAYER, "torch", text, warn=warn if idle else "")


def instructions_finding(proof: Proof, processor: Processor) -> Finding:
    """Whether torch uses the instruction sets that are there."""
    unused = processor.has("AVX2") and proof.instruction_set.upper() in ("DEFAULT", "NO AVX")
    warn = "Torch does not use this processor's AVX2: unset ATEN_CPU_CAPABILITY, or install the pinned build."
    return judge(LAYER, "instruction set", f"torch uses {proof.instruction_set}", warn=warn if unused else "")


def threads_finding(proof: Proof, cores: Cores) -> Finding:
    """Torch's threads against the cores it may use."""
    warn = ""
    if proof.threads > cores.usable:
        warn = f"Set LONGDOC_THREADS={cores.usable}: more threads than cores make encoding slower."
    elif proof.threads < cores.usable:
        warn = "Encoding would be faster with all of them: unset OMP_NUM_THREADS, or set LONGDOC_THREADS."
    return judge(LAYER, "threads", f"torch uses {proof.threads} of {cores.usable} cores", warn=warn)


def openmp_finding(proof: Proof) -> Finding:
    """More than one kind of OpenMP runtime in a process fights over the cores."""
    text = ", ".join(proof.openmp) or "none seen"
    warn = "Two OpenMP runtimes in one process compete for cores: install torch and faiss-cpu as pinned, by pip alone."
    return judge(LAYER, "OpenMP", text, warn=warn if len(proof.openmp) > 1 else "")
