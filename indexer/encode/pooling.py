"""From token states to one embedding, as a folder's pooling settings say, over padded batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def pool(states: torch.Tensor, mask: torch.Tensor, how: str) -> torch.Tensor:
    """States (texts, tokens, hidden) and mask (texts, tokens; 1 for a token, padding at the end) to (texts, hidden)."""
    if how == "cls":
        return states[:, 0]
    if how == "lasttoken":
        rows = mask.new_tensor(range(len(mask)))
        return states[rows, mask.sum(1) - 1]
    weights = mask.unsqueeze(2).to(states.dtype)
    if how == "max":
        return states.masked_fill(weights == 0, float("-inf")).amax(1)
    if how == "mean":
        return (states * weights).sum(1) / weights.sum(1)
    raise ValueError(f"there is no pooling called {how!r}")
