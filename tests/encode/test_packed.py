from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from indexer.encode.packed import PackedFile, dequantize
from indexer.errors import EncoderError


def tiny_file(path: Path) -> Path:
    """A file in the published layout: one quantised tensor of one block, one float32 tensor of two elements."""
    pieces = [b"<s>", b"<pad>", b"</s>", b"<unk>", "▁a".encode()]
    offsets = np.cumsum([0, *map(len, pieces)]).astype("<u4")
    blob = b"".join(pieces)
    head = b"E5S1" + struct.pack("<I7ifi", 1, 32, 1, 2, 64, 7, 8, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, len(blob)) + offsets.tobytes()
    head += np.array([0, 0, 0, 0, -1.5], dtype="<f4").tobytes() + blob
    table = struct.pack("<IB2I", 0xFB01, 2, ord("f"), ord("i")) + struct.pack("<IB", 7, 0)
    head += struct.pack("<iI", 2, len(table)) + table
    names = [b"l0.q.w", b"l0.q.b"]
    directory_size = 4 + sum(2 + len(name) + 1 + 4 + 8 + 8 for name in names)
    block = np.float16(0.5).tobytes() + bytes(j | (15 - j) << 4 for j in range(16))
    at = len(head) + directory_size
    directory = struct.pack("<i", 2)
    directory += struct.pack("<H", 6) + names[0] + struct.pack("<BIQQ", 1, 32, at, len(block))
    directory += struct.pack("<H", 6) + names[1] + struct.pack("<BIQQ", 0, 2, at + len(block), 8)
    path.write_bytes(head + directory + block + np.array([1.5, -2], dtype="<f4").tobytes())
    return path


def test_every_part_of_the_file_is_read(tmp_path: Path) -> None:
    packed = PackedFile(tiny_file(tmp_path / "tiny.bin"))
    assert (packed.shape.hidden, packed.shape.vocabulary, packed.shape.layer_norm_eps) == (32, 7, 1e-12)
    assert packed.vocabulary.pieces[-1] == "▁a"
    assert packed.vocabulary.scores[-1] == -1.5
    assert packed.vocabulary.normalizer == {0xFB01: "fi", 7: ""}
    tensors = dict(packed.tensors())
    assert tensors["l0.q.w"].tolist() == [(j - 8) * 0.5 for j in range(16)] + [(15 - j - 8) * 0.5 for j in range(16)]
    assert tensors["l0.q.b"].tolist() == [1.5, -2]


def test_low_nibbles_come_first() -> None:
    block = np.zeros(1, dtype=[("scale", "<f2"), ("nibbles", "u1", (16,))])
    block["scale"], block["nibbles"][0, 0] = 2, 0xF0
    weights = dequantize(block)
    assert weights[0] == -16
    assert weights[16] == 14


@pytest.mark.parametrize("content", [b"", b"E5S1", b"nope" * 30, b"E5S1" + struct.pack("<I", 2) + bytes(200)])
def test_what_is_no_such_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.bin"
    path.write_bytes(content)
    with pytest.raises(EncoderError, match=r"other\.bin"):
        PackedFile(path)
