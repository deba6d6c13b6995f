"""The offline proof: loads and uses an encoder in a process whose network is cut, and reports what ran and how fast.

``python -m indexer.encode.proof NAME`` prints one JSON document; ``prove`` runs that and reads it.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from indexer.errors import EncoderError, LongdocError

_NEW_NETWORK, _NEW_USER = 0x40000000, 0x10000000  # CLONE_NEWNET, CLONE_NEWUSER of <linux/sched.h>
_CUT_EVENTS = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg")
_OPENMP = re.compile(r"/(lib(?:g|i|)omp5?)[^/]*\.so")
_QUERY = "Who pays when delivery is late?"
_RELATED = "供方未按期交货的，应向需方支付违约金。"
_UNRELATED = "The cat sleeps on the warm roof of the shed."


@dataclass(frozen=True, slots=True)
class Proof:
    """What a process without a network loaded and measured; ``cut`` says how the network was cut.

    ``related`` and ``unrelated`` are cosines of one English question to a Chinese clause and to an English aside.
    """

    encoder: str
    fingerprint: str
    dimension: int
    max_tokens: int
    torch: str
    cuda: str | None
    instruction_set: str
    threads: int
    openmp: tuple[str, ...]
    load_seconds: float
    encode_seconds: float
    peak_mb: float
    cut: str
    attempts: tuple[str, ...]
    related: float
    unrelated: float


def prove(encoder: str, *, seconds: float = 300.0) -> Proof:
    """Run the proof in a process of its own. Raises EncoderError with what went wrong there."""
    command = [sys.executable, "-W", "ignore::RuntimeWarning:runpy", "-m", "indexer.encode.proof", encoder]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise EncoderError(f"The encoder {encoder} did not load and encode within {seconds:.0f} seconds.") from error
    if result.returncode:
        lines = [line for line in result.stderr.strip().splitlines() if line.strip()]
        reason = lines[-1] if lines else f"the process ended with {result.returncode}"
        raise EncoderError(f"The encoder {encoder} does not work without a network: {reason}")
    values = json.loads(result.stdout)
    return Proof(**values | {"openmp": tuple(values["openmp"]), "attempts": tuple(values["attempts"])})


def cut_network(attempts: list[str]) -> str:
    """Take the network from this process: a namespace without one where the kernel allows it, and Python's sockets.

    Whatever tries to connect or to look up a name all the same raises OSError and is noted in ``attempts``.
    """

    def guard(event: str, arguments: tuple[object, ...]) -> None:
        if event in _CUT_EVENTS:
            attempts.append(f"{event} {arguments[1:]!r}")
            raise OSError("the network is cut for this proof")

    cut = _enter_empty_namespace()
    sys.addaudithook(guard)
    return f"{cut} and Python's sockets blocked" if cut else "Python's sockets blocked"


def _enter_empty_namespace() -> str:
    user, group = os.getuid(), os.getgid()
    try:
        unshare = ctypes.CDLL(None, use_errno=True).unshare
    except (OSError, AttributeError):
        return ""
    if unshare(_NEW_NETWORK) == 0:
        return "no network interface"
    if unshare(_NEW_USER | _NEW_NETWORK) != 0:
        return ""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        Path(f"/proc/self/{name}").write_text(text, encoding="ascii")
    return "no network interface"


def _loaded_openmp() -> tuple[str, ...]:
    """The kinds of OpenMP runtime in this process, by the kernel's list of mapped files."""
    maps = Path("/proc/self/maps")
    return tuple(sorted(set(_OPENMP.findall(maps.read_text(encoding="utf-8"))))) if maps.exists() else ()


def _is_cut() -> bool:
    """Whether a connection is really refused; 192.0.2.1 is reserved for documentation and belongs to nobody."""
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=1).close()
    except OSError:
        return True
    return False


def run(name: str) -> Proof:
    """Load the encoder and encode three sentences with the network cut; for the process of its own only."""
    attempts: list[str] = []
    cut = cut_network(attempts)
    if not _is_cut():
        raise EncoderError("the network could not be cut, so nothing is proved")
    attempts.clear()
    from indexer.encode.load import load_encoder
    from indexer.settings import load_settings

    start = time.perf_counter()
    encoder = load_encoder(name, settings=load_settings())
    query = encoder.encode_query([_QUERY])[0]
    loaded = time.perf_counter()
    related, unrelated = encoder.encode_documents([_RELATED, _UNRELATED])
    encoded = time.perf_counter()
    import torch

    return Proof(
        encoder=encoder.name,
        fingerprint=encoder.fingerprint,
        dimension=encoder.dimension,
        max_tokens=encoder.max_tokens,
        torch=torch.__version__,
        cuda=torch.version.cuda,
        instruction_set=torch.backends.cpu.get_cpu_capability(),
        threads=torch.get_num_threads(),
        openmp=_loaded_openmp(),
        load_seconds=loaded - start,
        encode_seconds=encoded - loaded,
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        cut=cut,
        attempts=tuple(attempts),
        related=float(query @ related),
        unrelated=float(query @ unrelated),
    )


def main(arguments: list[str]) -> int:
    """Print the proof as JSON, or one sentence on stderr and exit 1."""
    try:
        proof = run(arguments[0])
    except (LongdocError, OSError, RuntimeError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(json.dumps(asdict(proof)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
