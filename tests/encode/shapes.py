"""Tiny random checkpoints in the layouts people have on disk, made by transformers' own classes."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import AutoModel, Lfm2Config, PretrainedConfig

ENGLISH = "the a cat dog sat on mat pays late delivery who when invoice pump valve"
WORDS = [*ENGLISH.split(), *"长文本分块猫鱼.,?"]
LFM2_LAYERS = ["conv", "full_attention", "conv", "full_attention"]
LFM2_EPS = 1e-5


def write_tokenizer(folder: Path, *, length: int = 64) -> None:
    """A word tokenizer with a frame of two special tokens; ids 0 to 3 are special."""
    vocabulary = {token: at for at, token in enumerate(["<s>", "<pad>", "</s>", "<unk>", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": "<pad>",
        "unk_token": "<unk>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "model_max_length": length,
        "model_input_names": ["input_ids", "attention_mask"],
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def write_model(folder: Path, config: PretrainedConfig, *, pooling: str | None = "mean", length: int = 64) -> Path:
    """A model with random weights for ``config``; without ``pooling`` a plain transformers folder."""
    torch.manual_seed(0)
    model = AutoModel.from_config(config)
    with torch.no_grad():  # transformers starts biases and norms at 0 and 1: a pass that forgets them would look right
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    model.save_pretrained(folder)
    write_tokenizer(folder, length=length)
    if pooling:
        kinds = {"": "models.Transformer", "1_Pooling": "models.Pooling"}
        modules = [
            {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.{kind}"}
            for at, (path, kind) in enumerate(kinds.items())
        ]
        (folder / "modules.json").write_text(json.dumps(modules))
        (folder / "1_Pooling").mkdir(exist_ok=True)
        settings = {"embedding_dimension": config.hidden_size, "pooling_mode": pooling, "include_prompt": True}
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(settings))
        (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": length}))
    return folder


def write_lfm2(folder: Path, *, pooling: str = "cls") -> Path:
    """Names, settings and a code file as the published encoders have them; the code would leave a trace."""
    config = Lfm2Config(
        vocab_size=40, hidden_size=32, intermediate_size=64, num_hidden_layers=4, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, layer_types=LFM2_LAYERS, conv_L_cache=3, pad_token_id=1,
        block_auto_adjust_ff_dim=False, norm_eps=LFM2_EPS,
    )  # fmt: skip
    write_model(folder, config, pooling=pooling, length=128)
    settings = json.loads((folder / "config.json").read_text())
    settings["architectures"] = ["Lfm2BidirectionalModel"]
    settings["auto_map"] = {"AutoModel": "modeling_lfm2_bidirectional.Lfm2BidirectionalModel"}
    (folder / "config.json").write_text(json.dumps(settings))
    (folder / "modeling_lfm2_bidirectional.py").write_text(f"open({str(folder / 'ran')!r}, 'w')\n")
    return folder
