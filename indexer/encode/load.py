"""From a name to an encoder: the built-in ones, any local folder, or, when a person allows it, the model hub."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from indexer.datatypes import Encoder
from indexer.encode.convert import E5_NAME, MINILM_NAME, e5_fingerprint, e5_folder, minilm_folder
from indexer.encode.folder import (
    EncoderSpec,
    ModelFolder,
    fingerprint,
    folder_digests,
    is_bidirectional_lfm2,
    read_folder,
)
from indexer.encode.lean import LeanEncoder, is_lean
from indexer.encode.reference import ReferenceEncoder
from indexer.encode.tuning import Calibration, read_calibration
from indexer.errors import EncoderError
from indexer.settings import Settings

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True, slots=True)
class _Located:
    folder: ModelFolder
    spec: EncoderSpec


def describe_encoder(name_or_path: str, settings: Settings) -> EncoderSpec:
    """What a library records of this encoder, without importing torch. The built-in one is converted when needed."""
    return _locate(name_or_path, settings, check=False, allow_download=settings.allow_download == "yes").spec


def describe_calibration(name_or_path: str, settings: Settings) -> Calibration | None:
    """What was measured for this encoder on this machine, without importing torch; None when nothing was yet."""
    return read_calibration(describe_encoder(name_or_path, settings), settings)


def load_encoder(
    name_or_path: str, *, settings: Settings, allow_download: bool = False, trust_remote_code: bool = False
) -> Encoder:
    """The encoder of this name (``e5-small``, ``minilm``) or folder, or of a hub's model when downloads are allowed.

    Its files are checked here, its weights are read at the first encoding. ``trust_remote_code`` lets a folder's own
    code run: never without the person's flag. Both flags can also come with the settings. Raises EncoderError with what
    to do.
    """
    allow_download = allow_download or settings.allow_download == "yes"
    trust_remote_code = trust_remote_code or settings.trust_remote_code == "yes"
    located = _locate(name_or_path, settings, check=True, allow_download=allow_download)
    if is_lean(located.folder):
        return LeanEncoder(located.folder, located.spec, settings)
    if is_bidirectional_lfm2(located.folder):
        from indexer.encode.lfm2 import Lfm2Encoder

        return Lfm2Encoder(located.folder, located.spec, settings)
    return ReferenceEncoder(located.folder, located.spec, settings, trust_remote_code=trust_remote_code)


def _locate(name: str, settings: Settings, *, check: bool, allow_download: bool) -> _Located:
    if name == E5_NAME:
        folder = read_folder(e5_folder(settings.cache, check=check))
        return _Located(folder, folder.spec(name, e5_fingerprint()))
    if name == MINILM_NAME:
        path, digest = minilm_folder()
        folder = read_folder(path)
        return _Located(folder, folder.spec(name, digest))
    path = Path(name).expanduser()
    if path.is_dir():
        path = path.resolve()
        name = str(path)
    elif _HUB_NAME.fullmatch(name) and not path.is_absolute():
        path = _hub_folder(name, allow_download=allow_download)
    else:
        raise EncoderError(
            f"There is no encoder called {name!r}: use {E5_NAME}, {MINILM_NAME} or the path of a model folder."
        )
    folder = read_folder(path)
    return _Located(folder, folder.spec(name, fingerprint(folder_digests(path))))


def _hub_folder(name: str, *, allow_download: bool) -> Path:
    """A hub model's local copy; the network is used only when ``allow_download`` is set."""
    from huggingface_hub import snapshot_download

    try:
        return Path(
            snapshot_download(
                name,
                local_files_only=not allow_download,
                ignore_patterns=["*.bin", "*.pt", "*.h5", "*.onnx", "*.msgpack", "openvino/*", "onnx/*"],
            )
        )
    except Exception as error:  # the hub's client raises many kinds, all of which mean: no model
        if allow_download:
            raise EncoderError(f"The model {name} could not be downloaded: {error}") from error
        raise EncoderError(
            f"The model {name} is not on this machine, and nothing is downloaded unless you say so: "
            "give --allow-download, or the path of a model folder."
        ) from error
