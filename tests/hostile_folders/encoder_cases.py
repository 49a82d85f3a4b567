"""Changes of BERT folders that must be refused."""

import torch
from tests.hostile_folders.changes import (
    DEEP,
    HUGE,
    INF,
    NAN,
    Change,
    config,
    content,
    fifo,
    fill,
    link,
    put,
    sparse,
    text,
)

BERT: dict[str, Change] = {
    "many layers": config(num_hidden_layers=10**9),
    "zero layers": config(num_hidden_layers=0),
    "layers are a text": config(num_hidden_layers="2"),
    "zero heads": config(num_attention_heads=0),
    "heads that do not divide the width": config(num_attention_heads=3),
    "NaN epsilon": config(layer_norm_eps=NAN),
    "NaN embedding": fill("model.safetensors", "embeddings.word_embeddings.weight", NAN),
    "infinite layer": fill("model.safetensors", "encoder.layer.1.output.dense.bias", INF),
    "a column of positions": put(
        "model.safetensors",
        **{
            "embeddings.position_embeddings.weight": torch.ones(100_000, 1),
            "embeddings.token_type_embeddings.weight": torch.ones(2, 100_000),
        },
    ),
    "wide embeddings": put(
        "model.safetensors", **{"embeddings.word_embeddings.weight": torch.ones(6, 9)}
    ),
    "no embeddings": put(
        "model.safetensors", **{"embeddings.word_embeddings.weight": torch.ones(0, 8)}
    ),
    "one position": put(
        "model.safetensors", **{"embeddings.position_embeddings.weight": torch.ones(1, 8)}
    ),
    "scalar embedding": put(
        "model.safetensors", **{"embeddings.word_embeddings.weight": torch.tensor(1.0)}
    ),
    "token id out of range": text(
        "tokenizer.json", lambda value: value["model"]["vocab"].update({"left": 10**9})
    ),
    "special token out of range": text(
        "tokenizer.json",
        lambda value: value["post_processor"]["special_tokens"]["[CLS]"].update(ids=[10**6]),
    ),
    "config nested deeply": content("config.json", b'{"a":' * DEEP),
    "config is a list": content("config.json", b"[]"),
    "config is huge": sparse("config.json"),
    "config is a FIFO": fifo("config.json"),
    "weights are a FIFO": fifo("model.safetensors"),
    "weights are a device": link("model.safetensors", "/dev/zero"),
    "weights are huge": sparse("model.safetensors"),
    "tokenizer is a FIFO": fifo("tokenizer.json"),
    "tokenizer is a device": link("tokenizer.json", "/dev/zero"),
    "vocabulary is a FIFO": fifo("vocab.txt"),
    "tokenizer_config is a FIFO": fifo("tokenizer_config.json"),
    "adapter": content("adapter_config.json", b"{}"),
    "code for the model": config(auto_map={"AutoModel": "evil.Model"}),
    "code for the tokenizer": text(
        "tokenizer_config.json", lambda value: value.update(auto_map={"AutoTokenizer": "evil.T"})
    ),
    "foreign kernel": config(attn_implementation="someone/kernel"),
    "weights elsewhere": content(
        "model.safetensors.index.json", b'{"weight_map": {"a": "../x.safetensors"}}'
    ),
}
# Read by `transformers`, because its activation is not that of plain BERT.
OTHER_BERT: dict[str, Change] = {
    "many layers": config(num_hidden_layers=10**9),
    "huge width": config(hidden_size=HUGE * 2),
    "huge inner width": config(intermediate_size=10**9),
    "huge vocabulary": config(vocab_size=10**10),
    "many positions": config(max_position_embeddings=10**10),
    "many labels": config(num_labels=10**9),
    "NaN embedding": fill("model.safetensors", "embeddings.word_embeddings.weight", NAN),
    "infinite layer": fill("model.safetensors", "encoder.layer.1.output.dense.bias", INF),
    "code for the model": config(auto_map={"AutoConfig": "evil.C", "AutoModel": "evil.M"}),
    "token id out of range": text(
        "tokenizer.json", lambda value: value["model"]["vocab"].update({"left": 10**9})
    ),
}
