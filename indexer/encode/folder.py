"""Reads what a model folder says of itself, without loading the model: modules, pooling, prompts, length, digest."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexer.errors import EncoderError

_POOLING_FLAGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")
_IDENTITY = ("*.safetensors", "*.json", "*.txt", "*.model", "*/*.safetensors", "*/*.json")
_NOT_IDENTITY = ("README.md", "manifest.json", "data_config.json")
_PLAIN_MODULES = ["Transformer", "Pooling"]
_DEFAULT_LENGTH = 512


@dataclass(frozen=True, slots=True)
class EncoderSpec:
    """What a library records of its encoder; known without loading any weights."""

    name: str
    fingerprint: str
    dimension: int
    query_prompt: str
    document_prompt: str
    pooling: str


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A sentence-transformers or plain transformers folder as its own files describe it.

    ``max_length`` counts positions, special tokens and prompt included. ``plain`` tells that the modules are a
    transformer, one pooling and perhaps a normalisation, nothing else.
    """

    path: Path
    transformer: Path
    config: dict[str, Any]
    modules: tuple[str, ...]
    pooling: str
    include_prompt: bool
    dimension: int
    max_length: int
    query_prompt: str
    document_prompt: str

    @property
    def plain(self) -> bool:
        return [module for module in self.modules if module != "Normalize"] == _PLAIN_MODULES and self.include_prompt

    @property
    def weight_bytes(self) -> int:
        """What the weights take on disk, which is about what they take in memory in that precision."""
        return sum(path.stat().st_size for path in self.transformer.glob("*.safetensors"))

    @property
    def model_type(self) -> str:
        return str(self.config.get("model_type", ""))

    def spec(self, name: str, fingerprint: str) -> EncoderSpec:
        """The folder's description under ``name``."""
        return EncoderSpec(name, fingerprint, self.dimension, self.query_prompt, self.document_prompt, self.pooling)


def read_folder(path: Path) -> ModelFolder:
    """Describe the model in ``path``; raises EncoderError, naming the file, when it is none or cannot be read."""
    modules = _read_json(path / "modules.json") if (path / "modules.json").exists() else None
    places = {str(entry["type"]).rsplit(".", 1)[-1]: path / str(entry["path"]) for entry in modules or ()}
    transformer = places.get("Transformer", path)
    if not (transformer / "config.json").exists():
        raise EncoderError(f"{path} is not a model folder: it has no config.json.")
    config = _read_json(transformer / "config.json")
    pooling, include_prompt = "mean", True
    if "Pooling" in places:
        settings = _read_json(places["Pooling"] / "config.json")
        pooling = _pooling(settings)
        include_prompt = bool(settings.get("include_prompt", True))
    prompts = _optional_json(path / "config_sentence_transformers.json").get("prompts") or {}
    return ModelFolder(
        path=path,
        transformer=transformer,
        config=config,
        modules=tuple(places) if modules else ("Transformer", "Pooling"),
        pooling=pooling,
        include_prompt=include_prompt,
        dimension=_dimension(config, places, pooling),
        max_length=_max_length(transformer, config),
        query_prompt=str(prompts.get("query", "")),
        document_prompt=next((str(prompts[key]) for key in _DOCUMENT_PROMPTS if prompts.get(key)), ""),
    )


def is_bidirectional_lfm2(folder: ModelFolder) -> bool:
    """Whether the folder is an LFM2 encoder; a checkpoint that says it writes text (a causal model) is none."""
    makers = folder.config.get("architectures") or []
    return (
        folder.model_type == "lfm2"
        and folder.plain
        and folder.pooling in ("mean", "cls", "max", "lasttoken")
        and not any("CausalLM" in str(maker) for maker in makers)
    )


def first_position(config: dict[str, Any]) -> int:
    """Where position numbers begin: RoBERTa's family counts from behind its padding token's id."""
    if config.get("model_type") not in ("roberta", "xlm-roberta", "camembert", "longformer"):
        return 0
    return int(config.get("pad_token_id", 1)) + 1


def weights_prefix(names: set[str]) -> str:
    """What stands before BertModel's own names in a file of weights."""
    known = ("", "bert.", "roberta.")
    return next((prefix for prefix in known if f"{prefix}embeddings.word_embeddings.weight" in names), "")


def folder_digests(path: Path) -> dict[str, str]:
    """The sha256 of every file that decides what the model computes, by its relative name, sorted."""
    names = sorted({file for pattern in _IDENTITY for file in path.glob(pattern) if file.is_file()})
    return {file.relative_to(path).as_posix(): file_sha256(file) for file in names if file.name not in _NOT_IDENTITY}


def fingerprint(digests: dict[str, str]) -> str:
    """One hex digest over the digests of a folder's files."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def file_sha256(path: Path) -> str:
    """The sha256 of a file's bytes, in hex; raises EncoderError when it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EncoderError(f"The encoder's file {path} cannot be read: {error.strerror}.") from error


def _pooling(settings: dict[str, Any]) -> str:
    mode = settings.get("pooling_mode")
    if mode is None:
        mode = [name for flag, name in _POOLING_FLAGS.items() if settings.get(flag)] or ["mean"]
    return mode if isinstance(mode, str) else "+".join(mode)


def _dimension(config: dict[str, Any], places: dict[str, Path], pooling: str) -> int:
    if "Dense" in places:
        return int(_read_json(places["Dense"] / "config.json")["out_features"])
    hidden = config.get("hidden_size") or config.get("dim") or config.get("n_embd") or config.get("d_model")
    if not isinstance(hidden, int):
        raise EncoderError(
            f"The model's config.json does not say its hidden size (model type {config.get('model_type')})."
        )
    return hidden * (1 + pooling.count("+"))


def _max_length(transformer: Path, config: dict[str, Any]) -> int:
    """Positions that may be used: the folder's own limit, never more than the model has."""
    limits = []
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and positions > 0:
        limits.append(positions - first_position(config))
    limits.append(int(_optional_json(transformer / "sentence_bert_config.json").get("max_seq_length") or 0))
    if not limits[-1]:
        limits.append(int(_optional_json(transformer / "tokenizer_config.json").get("model_max_length") or 0))
    return min((limit for limit in limits if limit > 0), default=_DEFAULT_LENGTH)


def _optional_json(path: Path) -> dict[str, Any]:
    value = _read_json(path) if path.exists() else {}
    return value if isinstance(value, dict) else {}


def _read_json(path: Path) -> Any:  # JSON has no narrower type
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EncoderError(f"The encoder's file {path} cannot be read: {error}.") from error
