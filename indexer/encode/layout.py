"""What a converted BERT folder holds beside its weights: their names, and the small files of sentence-transformers."""

from __future__ import annotations

from indexer.encode.packed import PackedShape


def bert_name(name: str) -> str:
    """BertModel's name of a tensor that the packed file names in short (``l0.q.w``)."""
    if name.startswith("emb."):
        return (
            "embeddings."
            + {
                "emb.word": "word_embeddings.weight",
                "emb.pos": "position_embeddings.weight",
                "emb.type": "token_type_embeddings.weight",
                "emb.ln.w": "LayerNorm.weight",
                "emb.ln.b": "LayerNorm.bias",
            }[name]
        )
    layer, part, kind = name.split(".")
    place = {
        "q": "attention.self.query",
        "k": "attention.self.key",
        "v": "attention.self.value",
        "ao": "attention.output.dense",
        "aln": "attention.output.LayerNorm",
        "fi": "intermediate.dense",
        "fo": "output.dense",
        "oln": "output.LayerNorm",
    }[part]
    return f"encoder.layer.{layer[1:]}.{place}.{'weight' if kind == 'w' else 'bias'}"


def settings_files(shape: PackedShape) -> dict[str, object]:
    """The content of every small file of the folder, by name, to be written as JSON."""
    types = ("models.Transformer", "models.Pooling", "models.Normalize")
    paths = ("", "1_Pooling", "2_Normalize")
    return {
        "config.json": _model_settings(shape),
        "tokenizer_config.json": _tokenizer_settings(shape),
        "modules.json": [
            {"idx": index, "name": str(index), "path": path, "type": f"sentence_transformers.{kind}"}
            for index, (kind, path) in enumerate(zip(types, paths, strict=True))
        ],
        "1_Pooling/config.json": {
            "word_embedding_dimension": shape.hidden,
            "pooling_mode_cls_token": False,
            "pooling_mode_mean_tokens": True,
            "pooling_mode_max_tokens": False,
            "pooling_mode_mean_sqrt_len_tokens": False,
        },
        "2_Normalize/config.json": {},
        "sentence_bert_config.json": {"max_seq_length": shape.positions, "do_lower_case": False},
        "config_sentence_transformers.json": {
            "prompts": {"query": "query: ", "document": "passage: "},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
    }


def _model_settings(shape: PackedShape) -> dict[str, object]:
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "dtype": "float32",
        "hidden_act": "gelu",
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": shape.intermediate,
        "vocab_size": shape.vocabulary,
        "max_position_embeddings": shape.positions,
        "type_vocab_size": shape.types,
        "layer_norm_eps": shape.layer_norm_eps,
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "initializer_range": 0.02,
        "position_embedding_type": "absolute",
        "bos_token_id": 0,
        "pad_token_id": 1,
        "eos_token_id": 2,
    }


def _tokenizer_settings(shape: PackedShape) -> dict[str, object]:
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "cls_token": "<s>",
        "eos_token": "</s>",
        "sep_token": "</s>",
        "pad_token": "<pad>",
        "unk_token": "<unk>",
        "mask_token": "<mask>",
        "model_max_length": shape.positions,
        "model_input_names": ["input_ids", "attention_mask"],
    }
