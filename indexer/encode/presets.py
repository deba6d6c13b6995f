"""Architectures for long text at matched size, with random weights: enough to measure cost, good for nothing else.

Every preset is built from transformers' own classes, except the hierarchical windows, which are how longdoc reads:
windows of 512 tokens, each with full attention inside. Layers are added until a model comes nearest to its size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from indexer.errors import EncoderError

if TYPE_CHECKING:
    from transformers import PretrainedConfig

SIZES = {"30m": (384, 30_000_000), "120m": (768, 120_000_000)}
"""Hidden size and parameters aimed at, embeddings included."""

VOCABULARY = 30_522
WINDOW = 512
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

    positions = length + -length % 64  # it pads a text to whole blocks of 64
    return BigBirdConfig(**_common(hidden, layers), max_position_embeddings=positions, attention_type="block_sparse")


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
