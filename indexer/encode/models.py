"""Models whose cost is measured: the presets with random weights, or any local folder, called with token ids alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModel, Lfm2Config, PretrainedConfig

from indexer.encode import presets
from indexer.encode.folder import is_bidirectional_lfm2, read_folder
from indexer.encode.lfm2 import BidirectionalLfm2, load_lfm2
from indexer.encode.presets import PRESETS, WINDOW, Preset, RopeScaling, known
from indexer.errors import EncoderError

_MOST_LAYERS = 60
Call = Callable[[torch.nn.Module, torch.Tensor], Any]
"""How a model is given token ids (texts, tokens); it returns its states, or what has them as ``last_hidden_state``."""


class States(torch.nn.Module):
    """A model that turns token ids (texts, tokens) into states (texts, tokens, hidden), whatever its own call is."""

    def __init__(self, model: torch.nn.Module, call: Call) -> None:
        super().__init__()
        self.model = model
        self._call = call

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        out = self._call(self.model, ids)
        states: torch.Tensor = out if isinstance(out, torch.Tensor) else out.last_hidden_state
        return states

    @property
    def parameters_count(self) -> int:
        """How many numbers the model has learnt, or would have."""
        return _size(self.model)


def build(name: str, length: int, rope: RopeScaling | None = None) -> States:
    """The preset ``name`` (``bert-30m``) with random weights, for texts of ``length`` tokens.

    Raises EncoderError for another name, and for rope scaling where there are no rotary positions.
    """
    if not known(name):
        names = ", ".join(f"{architecture}-{size}" for architecture in PRESETS for size in presets.SIZES)
        raise EncoderError(f"There is no architecture called {name!r}: use {names}, or the path of a model folder.")
    architecture, _, size = name.rpartition("-")
    preset = PRESETS[architecture]
    if rope is not None and not preset.rotary:
        raise EncoderError(f"{name} has no rotary positions, so --rope-scaling does not apply to it.")
    hidden, parameters = presets.SIZES[size]
    trained = int(length / rope.factor) if rope else length
    config = preset.configure(hidden, _matched_layers(preset, hidden, parameters), trained)
    if rope is not None:
        scale_rope(config, rope, trained)
    return States(_make(config), _CALLS.get(architecture, _plainly))


def load_folder(path: Path, length: int, rope: RopeScaling | None = None) -> States:
    """A local model folder, weights and all. Raises EncoderError when its positions end before ``length``."""
    if rope is None and is_bidirectional_lfm2(folder := read_folder(path)):
        return States(load_lfm2(folder), _all_visible)
    try:
        config = AutoConfig.from_pretrained(path, local_files_only=True, trust_remote_code=False)
        rotary = bool(getattr(config, "rope_parameters", None))
        positions = int(getattr(config, "max_position_embeddings", 0) or 0)
        if rope is not None:
            if not rotary:
                raise EncoderError(f"The model in {path} has no rotary positions: --rope-scaling does not apply to it.")
            scale_rope(config, rope, positions or length)
        elif not rotary and 0 < positions < length:
            raise EncoderError(f"The model in {path} has {positions} positions, {length} do not fit.")
        model = AutoModel.from_pretrained(path, config=config, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise EncoderError(f"The model in {path} cannot be loaded: {error}") from error
    return States(model.eval(), _CALLS.get(config.model_type, _plainly))


def scale_rope(config: PretrainedConfig, rope: RopeScaling, trained: int) -> None:
    """Set rope scaling in a configuration, for every kind of layer that has its own."""
    parameters = config.rope_parameters
    added = {"rope_type": rope.kind, "factor": rope.factor, "original_max_position_embeddings": trained}
    nested = all(isinstance(value, dict) for value in parameters.values())
    config.rope_parameters = (
        {layer: value | added for layer, value in parameters.items()} if nested else dict(parameters) | added
    )
    config.max_position_embeddings = int(trained * rope.factor)


def _size(model: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def _matched_layers(preset: Preset, hidden: int, parameters: int) -> int:
    """Layers, in whole steps of the architecture's pattern, that bring a model nearest to a number of parameters."""
    with torch.device("meta"):
        one, two = (_size(_make(preset.configure(hidden, steps * preset.step, WINDOW))) for steps in (1, 2))
    steps = 1 + round((parameters - one) / (two - one))
    return min(max(steps, 1) * preset.step, _MOST_LAYERS)


def _make(config: PretrainedConfig) -> torch.nn.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # transformers warns of missing CUDA kernels, which is what is measured here
        make: Any = BidirectionalLfm2 if isinstance(config, Lfm2Config) else AutoModel.from_config
        model: torch.nn.Module = make(config)
    return model.eval()


def _plainly(model: torch.nn.Module, ids: torch.Tensor) -> Any:
    return model(ids)


def _first_globally(model: torch.nn.Module, ids: torch.Tensor) -> Any:
    everywhere = torch.zeros_like(ids)
    everywhere[:, 0] = 1
    return model(ids, global_attention_mask=everywhere)


def _all_visible(model: torch.nn.Module, ids: torch.Tensor) -> torch.Tensor:
    assert isinstance(model, BidirectionalLfm2)
    return model.states(ids, torch.ones_like(ids))


def _in_windows(model: torch.nn.Module, ids: torch.Tensor) -> torch.Tensor:
    texts, tokens = ids.shape
    rows = torch.nn.functional.pad(ids, (0, -tokens % WINDOW)).view(-1, WINDOW) if tokens > WINDOW else ids
    states: torch.Tensor = model(rows).last_hidden_state
    return states.reshape(texts, -1, states.shape[-1])[:, :tokens]


_CALLS: dict[str, Call] = {"longformer": _first_globally, "lfm2": _all_visible, "windows": _in_windows}
