"""Reads text in pictures (OCR) through rapidocr, an optional extra whose models come in its package."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from indexer.parse.lines import Line

if TYPE_CHECKING:
    from PIL.Image import Image

LONGEST_SIDE = 1700
"""Pixels of the longer side of what is recognised: about 150 to an inch of a page."""

_LEAST_SCORE = 0.5
_LEAST_CHARS = 2
_SIDEWAYS_SHARE = 0.5


@lru_cache(maxsize=1)
def is_available() -> bool:
    """Whether the extra is installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("rapidocr", "onnxruntime"))


@lru_cache(maxsize=1)
def _engine() -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            "EngineConfig.onnxruntime.enable_cpu_mem_arena": False,
            "Rec.rec_batch_num": 4,
        }
    )


def recognise_lines(picture: Image) -> list[Line]:
    """The lines of text in a picture, boxes in pixels from the lower left; a picture lying on its side is turned.

    Their ``shown`` is where they stand on the picture as it came.
    """
    picture = bounded(picture.convert("RGB"))
    lines, score = _read(picture)
    if lines and _is_sideways(lines):
        from PIL.Image import Transpose

        for turn in (Transpose.ROTATE_90, Transpose.ROTATE_270):
            turned, turned_score = _read(picture.transpose(turn))
            if turned_score > score and not _is_sideways(turned):
                score = turned_score
                lines = [_turned_back(line, clockwise=turn is Transpose.ROTATE_270) for line in turned]
    return lines


def _turned_back(line: Line, *, clockwise: bool) -> Line:
    assert line.shown is not None
    left, top, right, bottom = line.shown
    back = (top, 1 - right, bottom, 1 - left) if clockwise else (1 - bottom, left, 1 - top, right)
    return replace(line, shown=back)


def bounded(picture: Image) -> Image:
    """The picture, made smaller when it is larger than recognition needs."""
    longest = max(picture.size)
    if longest <= LONGEST_SIDE:
        return picture
    width, height = (max(side * LONGEST_SIDE // longest, 1) for side in picture.size)
    return picture.resize((width, height), reducing_gap=2.0)


def _read(picture: Image) -> tuple[list[Line], float]:
    """Lines, and the sum of their characters weighted by how sure the engine is of them."""
    import numpy as np

    found = _engine()(np.asarray(picture)[:, :, ::-1])
    if found.boxes is None or not found.txts:
        return [], 0.0
    width, height = picture.size
    lines, total, place = [], 0.0, 0
    for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
        if score < _LEAST_SCORE or not text.strip():
            continue
        across, down = [float(point[0]) for point in corners], [float(point[1]) for point in corners]
        shown = (min(across) / width, min(down) / height, max(across) / width, max(down) / height)
        box = (min(across), height - max(down), max(across), height - min(down))
        lines.append(Line(text, place, *box, shown=shown))
        place += len(text) + 1
        total += float(score) * len(text)
    return lines, total


def _is_sideways(lines: list[Line]) -> bool:
    long = [line for line in lines if len(line.text) > _LEAST_CHARS]
    return sum(line.vertical for line in long) > _SIDEWAYS_SHARE * max(len(long), 1)
