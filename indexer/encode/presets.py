"""Architectures for long text at matched size, with random weights: enough to measure cost, good for nothing else.

Every preset is built from transformers' own classes, except the hierarchical windows, which are how longdoc reads:
windows of 512 tokens, each with full attention inside. Layers are added until a model comes nearest to its size.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexer.errors import EncoderError

if TYPE_CHECKING:
    import torch
    from transformers import PretrainedConfig

SIZES = {"30m": (384, 30_000_000), "120m": (768, 120_000_000)}
"""Hidden size and parameters aimed at, embeddings included."""

VOCABULARY = 30_522
WINDOW = 512
_MOST_LAYERS = 60
_ROPE_KINDS = ("linear", "dynamic", "yarn")


@dataclass(frozen=True, slots=True)
class RopeScaling:
    """How positions beyond the trained length are squeezed into it, by which factor."""

    kind: str
    factor: float

    @classmethod
    def parse(cls, text: str) -> RopeScaling:
        """``linear:2``, ``dynamic:4`` or ``yarn:4``. Raises EncoderError for anything else."""
        kind, _, factor = text.partition(":")
        try:
            scaling = cls(kind, float(factor))
        except ValueError:
            scaling = cls(kind, 0.0)
        if kind not in _ROPE_KINDS or scaling.factor < 1:
            raise EncoderError(
                f"Rope scaling is linear:FACTOR, dynamic:FACTOR or yarn:FACTOR (1 or more), not {text!r}."
            )
        return scaling


@dataclass(frozen=True, slots=True)
class Preset:
    """An architecture: its name in the field, and its configuration for a hidden size, layers and a length."""

    label: str
    configure: Callable[[int, int, int], PretrainedConfig]
    step: int = 1
    rotary: bool = False


def _common(hidden: int, layers: int) -> dict[str, Any]:
    return {
        "vocab_size": VOCABULARY,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": hidden // 64,
        "intermediate_size": hidden * 4,
        "pad_token_id": 0,
    }


def _bert(hidden: int, layers: int, length: int) -> PretrainedConfig:
    from transformers import BertConfig

    return BertConfig(**_common(hidden, layers), max_position_embeddings=length)


def _windows(hidden: int, layers: int, _length: int) -> PretrainedConfig:
    return _bert(hidden, layers, WINDOW)


def _modernbert(hidden: int, layers: int, length: int) -> PretrainedConfig:
    from transformers import ModernBertConfig

    return ModernBertConfig(
        **_common(hidden, layers) | {"intermediate_size": hidden * 3 // 2},
        max_position_embeddings=length,
        bos_token_id=1,
        eos_token_id=2,
        cls_token_id=1,
        sep_token_id=2,
    )


def _longformer(hidden: int, layers: int, length: int) -> PretrainedConfig:
    from transformers import LongformerConfig

    return LongformerConfig(
        **_common(hidden, layers), max_position_embeddings=length + 2, attention_window=[WINDOW] * layers
    )


def _bigbird(hidden: int, layers: int, length: int) -> PretrainedConfig:
    from transformers import BigBirdConfig

    return BigBirdConfig(**_common(hidden, layers), max_position_embeddings=length, attention_type="block_sparse")


def _nystrom(hidden: int, layers: int, length: int) -> PretrainedConfig:
    from transformers import NystromformerConfig

    return NystromformerConfig(**_common(hidden, layers), max_position_embeddings=length, segment_means_seq_len=length)


def _mamba(hidden: int, layers: int, _length: int) -> PretrainedConfig:
    from transformers import MambaConfig

    return MambaConfig(vocab_size=VOCABULARY, hidden_size=hidden, num_hidden_layers=layers, use_cache=False)


def _mamba2(hidden: int, layers: int, _length: int) -> PretrainedConfig:
    from transformers import Mamba2Config

    return Mamba2Config(
        vocab_size=VOCABULARY,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_heads=hidden * 2 // 64,
        head_dim=64,
        n_groups=1,
        use_cache=False,
    )


def _rwkv(hidden: int, layers: int, length: int) -> PretrainedConfig:
    from transformers import RwkvConfig

    return RwkvConfig(
        vocab_size=VOCABULARY, context_length=length, hidden_size=hidden, num_hidden_layers=layers, use_cache=False
    )


def _lfm2(hidden: int, layers: int, length: int) -> PretrainedConfig:
    from transformers import Lfm2Config

    return Lfm2Config(
        **_common(hidden, layers) | {"intermediate_size": hidden * 5 // 2},
        num_key_value_heads=max(hidden // 192, 1),
        max_position_embeddings=length,
        block_auto_adjust_ff_dim=False,
        use_cache=False,
        layer_types=[("conv", "conv", "full_attention")[layer % 3] for layer in range(layers)],
    )


PRESETS: dict[str, Preset] = {
    "bert": Preset("full attention", _bert),
    "modernbert": Preset("alternating local and global attention", _modernbert, step=3, rotary=True),
    "longformer": Preset("window and global tokens", _longformer),
    "bigbird": Preset("block-sparse attention", _bigbird),
    "nystromformer": Preset("Nystrom (linear attention)", _nystrom),
    "mamba": Preset("state space", _mamba),
    "mamba2": Preset("state space, chunked", _mamba2),
    "rwkv": Preset("RWKV", _rwkv),
    "lfm2": Preset("gated short convolution and grouped attention", _lfm2, step=3, rotary=True),
    "windows": Preset("hierarchical windows of 512 (longdoc)", _windows),
}


def known(name: str) -> bool:
    """Whether ``name`` is a preset with a size, such as ``bert-30m``."""
    architecture, _, size = name.rpartition("-")
    return architecture in PRESETS and size in SIZES


def build(name: str, length: int, rope: RopeScaling | None = None) -> torch.nn.Module:
    """The preset ``name`` (``bert-30m``) with random weights, for texts of ``length`` tokens.

    Called with token ids (texts, tokens) it gives states (texts, tokens, hidden). Raises EncoderError for another name.
    """
    if not known(name):
        names = ", ".join(f"{architecture}-{size}" for architecture in PRESETS for size in SIZES)
        raise EncoderError(f"There is no architecture called {name!r}: use {names}, or the path of a model folder.")
    architecture, _, size = name.rpartition("-")
    preset = PRESETS[architecture]
    if rope is not None and not preset.rotary:
        raise EncoderError(f"{name} has no rotary positions, so --rope-scaling does not apply to it.")
    hidden, parameters = SIZES[size]
    layers = _matched_layers(preset, hidden, parameters)
    trained = int(length / rope.factor) if rope else length
    config = preset.configure(hidden, layers, trained)
    if rope is not None:
        scale_rope(config, rope, trained)
    return _giving_states(_make(config), windows=architecture == "windows", long=architecture == "longformer")


def load_folder(path: Path, length: int, rope: RopeScaling | None = None) -> torch.nn.Module:
    """A local model folder, weights and all. Raises EncoderError when its positions end before ``length``."""
    from transformers import AutoConfig, AutoModel

    try:
        config = AutoConfig.from_pretrained(path, local_files_only=True, trust_remote_code=False)
        if rope is not None:
            if not getattr(config, "rope_parameters", None):
                raise EncoderError(f"The model in {path} has no rotary positions: --rope-scaling does not apply to it.")
            scale_rope(config, rope, int(getattr(config, "max_position_embeddings", 0) or length))
        elif not getattr(config, "rope_parameters", None):
            positions = getattr(config, "max_position_embeddings", None)
            if positions and length > positions:
                raise EncoderError(f"The model in {path} has {positions} positions, {length} do not fit.")
        model = AutoModel.from_pretrained(path, config=config, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise EncoderError(f"The model in {path} cannot be loaded: {error}") from error
    return _giving_states(model, windows=False, long=config.model_type == "longformer")


def scale_rope(config: PretrainedConfig, rope: RopeScaling, trained: int) -> None:
    """Set rope scaling in a configuration, for every kind of layer that has its own."""
    parameters = config.rope_parameters
    added = {"rope_type": rope.kind, "factor": rope.factor, "original_max_position_embeddings": trained}
    nested = all(isinstance(value, dict) for value in parameters.values())
    config.rope_parameters = (
        {layer: value | added for layer, value in parameters.items()} if nested else dict(parameters) | added
    )
    config.max_position_embeddings = int(trained * rope.factor)


def parameters_of(model: torch.nn.Module) -> int:
    """How many numbers a model has learnt, or would have."""
    return sum(parameter.numel() for parameter in model.parameters())


def _matched_layers(preset: Preset, hidden: int, parameters: int) -> int:
    """Layers, in whole steps of the architecture's pattern, that bring a model nearest to a number of parameters."""
    import torch

    counts = []
    with torch.device("meta"):
        for layers in (preset.step, 2 * preset.step):
            counts.append(parameters_of(_make(preset.configure(hidden, layers, WINDOW))))
    each = counts[1] - counts[0]
    steps = 1 + round((parameters - counts[0]) / each)
    return min(max(steps, 1) * preset.step, _MOST_LAYERS)


def _make(config: PretrainedConfig) -> torch.nn.Module:
    from transformers import AutoModel

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # transformers warns of missing CUDA kernels, which is what is measured here
        from_config: Any = AutoModel.from_config
        model: torch.nn.Module = from_config(config)
    return model.eval()


def _giving_states(model: torch.nn.Module, *, windows: bool, long: bool) -> torch.nn.Module:
    """Wrap a model so that token ids give states, whatever its own call looks like."""
    import torch

    class States(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            rows = ids.view(-1, WINDOW) if windows and ids.shape[1] > WINDOW else ids
            extra = {}
            if long:
                extra["global_attention_mask"] = torch.zeros_like(rows).index_fill_(1, torch.tensor([0]), 1)
            states: torch.Tensor = self.model(rows, **extra).last_hidden_state
            return states.reshape(ids.shape[0], -1, states.shape[-1])

    return States()
