"""Documents in groups, for tests of clustering: vectors around a few centres, texts with words of their own."""

from __future__ import annotations

import numpy as np

from indexer.clusters.build import Vectors

WORDS = {
    0: "The striker scored a late goal in the league match for the football club",
    1: "The court held that the tenant must pay rent under the lease agreement",
    2: "The vaccine trial measured antibody response in patients with influenza",
    3: "神经网络模型的训练需要大量标注数据和计算资源",
}


class GroupTexts:
    def __init__(self, groups: dict[int, int]) -> None:
        self._groups = groups

    def title(self, document: int) -> str:
        return f"Document {document}"

    def sample(self, document: int) -> str:
        return f"In 2024 and 17 others. {WORDS[self._groups[document] % len(WORDS)]}. And the of. {document}"


def grouped(sizes: tuple[int, ...], seed: int = 0, strays: int = 0) -> tuple[Vectors, dict[int, int]]:
    """Vectors in tight groups of the given sizes, shuffled, then strays far from all; and each document's group."""
    chance = np.random.default_rng(seed)
    centres = np.linalg.qr(np.random.default_rng(99).normal(size=(64, 64)))[0][: len(sizes)]
    rows = [centre + 0.08 * chance.normal(size=(size, 64)) for centre, size in zip(centres, sizes, strict=True)]
    stray = np.random.default_rng(5).normal(size=(strays, 64))
    stacked = np.concatenate([*rows, stray / np.linalg.norm(stray, axis=1, keepdims=True)])
    groups = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), np.full(strays, -1)])
    order = np.concatenate([chance.permutation(sum(sizes)), np.arange(sum(sizes), len(groups))]).astype(int)
    unit = stacked[order] / np.linalg.norm(stacked[order], axis=1, keepdims=True)
    ids = np.arange(1, len(order) + 1)
    return Vectors(ids, unit.astype(np.float32)), dict(zip(ids.tolist(), groups[order].tolist(), strict=True))
