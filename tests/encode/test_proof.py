from __future__ import annotations

import subprocess
import sys

import pytest

from indexer.encode.proof import prove
from indexer.errors import EncoderError


def test_an_encoder_that_is_not_there_is_named() -> None:
    with pytest.raises(EncoderError, match="There is no encoder called 'nothing-of-the-kind'"):
        prove("nothing-of-the-kind")


def test_the_cut_process_reaches_nothing_and_notes_the_attempt() -> None:
    script = (
        "import socket, sys\n"
        "from indexer.encode.proof import cut_network\n"
        "attempts = []\n"
        "cut_network(attempts)\n"
        "for call in (lambda: socket.getaddrinfo('localhost', 80), lambda: socket.create_connection(('::1', 9))):\n"
        "    try:\n"
        "        call()\n"
        "    except OSError as error:\n"
        "        print(error)\n"
        "print(len(attempts))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.splitlines() == ["the network is cut for this proof"] * 2 + ["2"]


@pytest.mark.slow
def test_the_default_encoder_works_without_a_network() -> None:
    proof = prove("e5-small")
    assert proof.dimension == 384
    assert proof.attempts == ()
    assert proof.related > proof.unrelated
    assert "blocked" in proof.cut
