from __future__ import annotations

from transformers import BertConfig, BertModel

from indexer.encode.layout import bert_name, settings_files
from indexer.encode.packed import PackedShape

SHAPE = PackedShape(32, 2, 2, 64, 40, 64, 2, 1e-12)


def test_the_names_are_those_of_the_model_that_the_settings_describe() -> None:
    settings = settings_files(SHAPE)["config.json"]
    assert isinstance(settings, dict)
    wanted = {name for name, _ in BertModel(BertConfig(**settings), add_pooling_layer=False).named_parameters()}
    parts = ("q", "k", "v", "ao", "aln", "fi", "fo", "oln")
    packed = [f"l{layer}.{part}.{kind}" for layer in range(2) for part in parts for kind in "wb"]
    packed += ["emb.word", "emb.pos", "emb.type", "emb.ln.w", "emb.ln.b"]
    assert {bert_name(name) for name in packed} == wanted
