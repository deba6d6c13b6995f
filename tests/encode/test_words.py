from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from indexer.encode.words import WordTable
from indexer.errors import EncoderError

NAME = "embeddings.word_embeddings.weight"


def write(path: Path, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    torch.manual_seed(0)
    table = torch.randn(50, 8).to(dtype)
    save_file({"other": torch.zeros(3), NAME: table}, path)
    return table.float()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_rows_are_those_of_the_table_in_any_order_and_again(tmp_path: Path, dtype: torch.dtype) -> None:
    table = write(tmp_path / "model.safetensors", dtype)
    words = WordTable(tmp_path / "model.safetensors", NAME)
    generator = np.random.default_rng(1)
    for count in (3, 1, 40, 200):
        ids = generator.integers(0, 50, count)
        assert torch.equal(words.lookup(ids), table[torch.from_numpy(ids)])


def test_only_what_was_asked_for_takes_memory(tmp_path: Path) -> None:
    write(tmp_path / "model.safetensors")
    words = WordTable(tmp_path / "model.safetensors", NAME)
    words.lookup(np.array([7, 8, 7, 49]))
    assert words.bytes_left == 47 * 8 * 4
    assert len(words._rows) == 3
    words.lookup(np.arange(50))
    assert words.bytes_left == 0
    assert len(words._rows) == 50


def test_a_file_that_lacks_it_or_ends_too_early_says_so(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    write(path)
    with pytest.raises(EncoderError, match="cannot be read"):
        WordTable(path, "nothing")
    path.write_bytes(path.read_bytes()[:-20])
    words = WordTable(path, NAME)
    with pytest.raises(EncoderError, match="ends too early"):
        words.lookup(np.arange(50))
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(EncoderError, match="cannot be read"):
        WordTable(tmp_path / "empty", NAME)


def test_an_id_beyond_the_table_is_no_row_of_another(tmp_path: Path) -> None:
    write(tmp_path / "model.safetensors")
    with pytest.raises(IndexError):
        WordTable(tmp_path / "model.safetensors", NAME).lookup(np.array([50]))
