from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from matplotlib import font_manager
from matplotlib.transforms import Bbox
from PIL import Image

from indexer.clusters import picture
from indexer.clusters.picture import fonts_for, write_png
from indexer.clusters.plot import COLOURS
from indexer.clusters.results import Cluster, Clustering, MapPoint

CHINESE_FONTS = [path for path in font_manager.findSystemFonts() if "wqy" in path or "CJK" in path]


def dot(document: int, place: np.ndarray, cluster: int | None) -> MapPoint:
    return MapPoint(document, float(place[0]), float(place[1]), cluster)


def clustering(*labels: str, members: int = 5, outliers: int = 0) -> Clustering:
    chance = np.random.default_rng(0)
    points, clusters = [], []
    for number, label in enumerate(labels, 1):
        ids = tuple(range(number * 100, number * 100 + members))
        clusters.append(Cluster(number, label, (label,), ids, ids[:1]))
        points += [dot(document, chance.normal(number, 0.1, 2), number) for document in ids]
    lone = tuple(range(outliers))
    points += [dot(document, chance.uniform(-1, 1, 2), None) for document in lone]
    return Clustering(tuple(clusters), (), lone, tuple(points), "given", 0, 0)


def colours(found: Clustering) -> dict[int | None, str]:
    return {None: "#999999"} | {cluster.id: COLOURS[cluster.id] for cluster in found.clusters}


def test_the_picture_shows_each_cluster_in_its_colour(tmp_path: Path) -> None:
    found = clustering("contracts", "pumps", outliers=3)
    write_png(found, colours(found), tmp_path / "map.png")
    pixels = np.asarray(Image.open(tmp_path / "map.png").convert("RGB")).reshape(-1, 3)
    for colour in (COLOURS[1], COLOURS[2], "#999999"):
        wanted = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
        assert (pixels == wanted).all(axis=1).sum() > 20


def test_a_dollar_sign_in_a_label_is_no_mathematics(tmp_path: Path) -> None:
    found = clustering(r"$\frac{1}$ and a lone $", "pumps")
    write_png(found, colours(found), tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 1000


@pytest.mark.skipif(not CHINESE_FONTS, reason="no Chinese font is installed here")
def test_chinese_labels_use_a_font_of_the_system_that_matplotlib_does_not_know_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = [font for font in font_manager.fontManager.ttflist if font.fname not in CHINESE_FONTS]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", known)
    fonts = fonts_for("维修 水泵")
    assert len(fonts.families) > 1
    assert not fonts.missing
    found = clustering("维修, 水泵", "pumps")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_png(found, colours(found), tmp_path / "map.png")


def test_without_a_font_the_number_stands_for_the_label_and_the_title_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    drawn: list[str] = []
    before = picture._label

    def keep(*given):  # type: ignore[no-untyped-def]  # stands in for one call
        text = before(*given)
        drawn.append(text.get_text())
        return text

    monkeypatch.setattr(picture, "_label", keep)
    found = clustering("维修, 水泵", "pumps")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_png(found, colours(found), tmp_path / "map.png")
    assert drawn == ["#1", "pumps"]
    assert "no font here" in picture._title(found, fonts_for("维修"))
    assert "no font here" not in picture._title(found, fonts_for("pumps"))


def test_a_file_that_is_no_font_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.ttf").write_bytes(b"no font")
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [str(tmp_path / "broken.ttf")])
    assert fonts_for("水").missing == {"水"}


def test_labels_of_clusters_at_the_same_place_do_not_cover_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boxes: list[Bbox] = []
    before = picture._put_apart

    def keep(axes, texts, place):  # type: ignore[no-untyped-def]  # stands in for one call
        before(axes, texts, place)
        boxes.extend(text.get_window_extent() for text in texts)

    monkeypatch.setattr(picture, "_put_apart", keep)
    found = clustering(*[f"label number {number}" for number in range(6)])
    same = tuple(MapPoint(p.document, 0.001 * p.document, 0.0, p.cluster) for p in found.points)
    found = Clustering(found.clusters, (), (), same, "given", 0, 0)
    write_png(found, colours(found), tmp_path / "map.png")
    assert len(boxes) == 6
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])
