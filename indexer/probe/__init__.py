"""The long-context lab: growth of cost with length, where facts get lost, what precision costs, and a baseline."""

from indexer.probe.backgrounds import background_chunks, folder_texts, library_texts, read_backgrounds
from indexer.probe.growth import Curve, Exponent, Growth, GrowthOptions, fit_exponent, run_growth
from indexer.probe.needle import (
    Measure,
    NeedleOptions,
    NeedleReport,
    NeedleResult,
    run_needle,
)
from indexer.probe.pictures import growth_picture, needle_picture
from indexer.probe.report import (
    GROWTH_HEADER,
    growth_csv,
    growth_json,
    growth_table,
    keep,
    kept,
    last_growth,
    last_needle,
    missed,
    needle_json,
    needle_table,
)

__all__ = [
    "GROWTH_HEADER",
    "Curve",
    "Exponent",
    "Growth",
    "GrowthOptions",
    "Measure",
    "NeedleOptions",
    "NeedleReport",
    "NeedleResult",
    "background_chunks",
    "fit_exponent",
    "folder_texts",
    "growth_csv",
    "growth_json",
    "growth_picture",
    "growth_table",
    "keep",
    "kept",
    "last_growth",
    "last_needle",
    "library_texts",
    "missed",
    "needle_json",
    "needle_picture",
    "needle_table",
    "read_backgrounds",
    "run_growth",
    "run_needle",
]
