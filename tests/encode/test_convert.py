"""The conversion into the cache, with a tiny package file in place of the real one."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

from indexer.encode import convert
from indexer.errors import EncoderError
from tests.encode.test_packed import tiny_file


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small file in the place of the package's, pinned as the real one is."""
    folder = tmp_path / "package"
    folder.mkdir()
    file = tiny_file(folder / convert.E5_FILE)
    monkeypatch.setattr(convert, "_package_folder", lambda package, requirement: folder)
    monkeypatch.setattr(convert, "E5_SHA256", convert.file_sha256(file))
    monkeypatch.setattr(convert, "_bert_tensors", lambda packed: dict(packed.tensors()))
    tensors = dict(convert.PackedFile(file).tensors())
    monkeypatch.setattr(convert, "E5_TENSORS_SHA256", convert._tensors_sha256(tensors))
    return file


def test_it_is_converted_once_and_complete(package: Path, tmp_path: Path) -> None:
    folder = convert.e5_folder(tmp_path / "cache")
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"model.safetensors", "tokenizer.json", "modules.json", "1_Pooling/config.json", "manifest.json"} <= names
    written = (folder / "model.safetensors").stat().st_mtime_ns
    assert convert.e5_folder(tmp_path / "cache") == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == written


def test_a_damaged_package_file_is_named(package: Path, tmp_path: Path) -> None:
    content = bytearray(package.read_bytes())
    content[-1] ^= 1
    package.write_bytes(content)
    with pytest.raises(EncoderError, match=r"e5-small-q4\.bin is damaged.*reinstall"):
        convert.e5_folder(tmp_path / "cache")
    assert not list((tmp_path / "cache" / "encoders").glob("e5-small*"))


def test_a_damaged_cache_is_named_and_made_again(
    package: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = convert.e5_folder(tmp_path / "cache")
    weights = folder / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert "model.safetensors is damaged" in str(convert.find_damage(folder, check=True))
    convert.e5_folder(tmp_path / "cache")
    assert "model.safetensors is damaged" in caplog.text
    assert convert.find_damage(folder, check=True) is None


def test_what_a_killed_conversion_left_is_cleared_away(package: Path, tmp_path: Path) -> None:
    left = tmp_path / "cache" / "encoders" / ".e5-small-v1-abc"
    left.mkdir(parents=True)
    folder = convert.e5_folder(tmp_path / "cache")
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == [folder.name]


def test_two_processes_at_once_make_one_whole_folder(package: Path, tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=convert.e5_folder, args=(tmp_path / "cache",)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert convert.find_damage(convert.e5_folder(tmp_path / "cache"), check=True) is None


def test_a_damaged_manifest_counts_as_damage(package: Path, tmp_path: Path) -> None:
    folder = convert.e5_folder(tmp_path / "cache")
    (folder / "manifest.json").write_text(json.dumps([]))
    assert "manifest.json" in str(convert.find_damage(folder, check=False))


def test_the_installed_minilm_is_the_pinned_one_and_any_other_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    folder, digest = convert.minilm_folder()
    assert (folder / "model.safetensors").is_file()
    assert len(digest) == 64
    monkeypatch.setitem(convert.MINILM_SHA256, "config.json", "0" * 64)
    with pytest.raises(EncoderError, match=r"config\.json is damaged"):
        convert.minilm_folder()
