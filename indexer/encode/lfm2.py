"""Bidirectional LFM2 encoders (gated short convolutions and grouped-query attention), without running a folder's code.

The published encoders bring their own modelling file; here their weights go into transformers' Lfm2 layers with two
changes: attention has no causal mask, and each short convolution is centred on its token instead of looking back.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from transformers import Lfm2Config, Lfm2Model
from transformers.models.lfm2.modeling_lfm2 import Lfm2ShortConv

from indexer.encode.batches import Forward
from indexer.encode.batching import BatchingEncoder
from indexer.encode.folder import ModelFolder
from indexer.encode.linear import dtype_of
from indexer.encode.padded import PaddedForward
from indexer.encode.pooling import pool
from indexer.encode.precision import Precision
from indexer.errors import EncoderError


class CentredShortConv(Lfm2ShortConv):
    """A gated depthwise convolution that sees as far ahead as back; its kernel's length is odd."""

    def forward(
        self, hidden_states: torch.Tensor, attention_mask: torch.Tensor | None = None, **_: Any
    ) -> torch.Tensor:
        """States (texts, tokens, hidden); padding is held at zero, so that it does not reach its neighbours."""
        if attention_mask is not None:
            hidden_states = hidden_states * attention_mask.unsqueeze(2).to(hidden_states.dtype)
        gate_in, gate_out, x = self.in_proj(hidden_states).transpose(1, 2).chunk(3, dim=1)
        mixed = F.conv1d(
            gate_in * x,
            self.conv.weight,
            self.conv.bias,
            padding=(self.conv.kernel_size[0] - 1) // 2,
            groups=self.conv.groups,
        )
        out: torch.Tensor = self.out_proj((gate_out * mixed).transpose(1, 2))
        return out


class BidirectionalLfm2(Lfm2Model):  # type: ignore[no-untyped-call]  # transformers' class hook has no types
    """Lfm2Model whose every token's state depends on the whole text."""

    def __init__(self, config: Lfm2Config) -> None:
        super().__init__(config)
        if config.conv_L_cache % 2 == 0:
            raise ValueError(f"a kernel of {config.conv_L_cache} cannot be centred")
        layers: Any = self.layers
        for at, layer in enumerate(layers):
            if layer.is_attention_layer:
                layer.self_attn.is_causal = False
            else:
                layer.conv = CentredShortConv(config, at)

    def states(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The last hidden states (texts, tokens, hidden) of padded ids and their mask."""
        visible = None if bool(mask.all()) else mask.bool()[:, None, None, :].expand(-1, 1, ids.shape[1], -1)
        masks = {"full_attention": visible, "conv": mask}
        states: torch.Tensor = self(input_ids=ids, attention_mask=masks, use_cache=False).last_hidden_state
        return states


class Lfm2Encoder(BatchingEncoder):
    """Texts to unit rows with a bidirectional LFM2."""

    def _make(self, precision: Precision) -> Forward:
        loaded: Any = load_lfm2(self.folder)  # transformers types .to() as a wrapper of its own
        model: BidirectionalLfm2 = loaded.to(dtype_of(precision))

        def embed(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return pool(model.states(ids, mask), mask, self.folder.pooling)

        return PaddedForward(self.folder, precision, embed, model.states)


def load_lfm2(folder: ModelFolder) -> BidirectionalLfm2:
    """The model of a folder in float32; raises EncoderError when its weights do not fit."""
    make: Any = BidirectionalLfm2.from_pretrained  # returns a pair when asked for a report, which its type leaves out
    try:
        config = Lfm2Config.from_pretrained(str(folder.transformer), local_files_only=True)
        model, report = make(
            str(folder.transformer),
            config=config,
            dtype=torch.float32,
            attn_implementation="sdpa",
            use_safetensors=True,
            local_files_only=True,
            key_mapping={r"^lfm2\.": ""},
            output_loading_info=True,
        )
    except Exception as error:  # any of transformers' own kinds: the folder cannot be loaded
        raise EncoderError(f"The model in {folder.path} cannot be loaded: {error}") from error
    if missing := sorted(report["missing_keys"]):
        raise EncoderError(f"The model in {folder.path} lacks {len(missing)} weights, {missing[0]} among them.")
    loaded: BidirectionalLfm2 = model.eval()
    return loaded
