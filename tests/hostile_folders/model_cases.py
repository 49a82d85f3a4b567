"""Changes of finders, rationale models and language models that must be refused."""

import json

import torch
from safetensors.torch import save
from tests.hostile_folders.changes import (
    DEEP,
    HUGE,
    INF,
    NAN,
    Change,
    both,
    config,
    content,
    fifo,
    fill,
    link,
    put,
    sparse,
    tensors,
    text,
    without,
)

FINDER: dict[str, Change] = {
    "huge hidden": config(hidden=HUGE),
    "larger hidden than memory": config(hidden=10**15),
    "hidden is no integer": config(hidden=1e400),
    "hidden is a text": config(hidden="16"),
    "zero hidden": config(hidden=0),
    "negative hidden": config(hidden=-1),
    "wide norm": put("selector.safetensors", **{"norm.weight": torch.ones(100_000)}),
    "wide norm and huge hidden": both(
        put("selector.safetensors", **{"norm.weight": torch.ones(100_000)}), config(hidden=HUGE)
    ),
    "NaN weight": fill("selector.safetensors", "inner.weight", NAN),
    "infinite weight": fill("selector.safetensors", "norm.bias", INF),
    "NaN in the second selector": fill("selector.safetensors", "1.outer.bias", NAN),
    "empty tensor name": tensors(
        "selector.safetensors", lambda values: values.update({"": torch.ones(2)})
    ),
    "empty tensor": put("selector.safetensors", **{"norm.weight": torch.ones(0)}),
    "missing tensor": without("selector.safetensors", "norm.weight"),
    "surplus tensor": put("selector.safetensors", surplus=torch.ones(1)),
    "scalar tensor": put("selector.safetensors", **{"norm.weight": torch.tensor(1.0)}),
    "no tensors": content("selector.safetensors", save({})),
    "weights are text": content("selector.safetensors", b"x" * 1000),
    "header longer than the file": content("selector.safetensors", b"\xff" * 7 + b"\x00{}"),
    "header nested deeply": content(
        "selector.safetensors", DEEP.to_bytes(8, "little") + b"[" * DEEP
    ),
    "deep lists": content("config.json", b"[" * 100_000),
    "deep objects": content("config.json", b'{"a":' * DEEP + b"1" + b"}" * DEEP),
    "deep value": config(learned_from=json.loads("[" * 200 + "]" * 200)),
    "many values": content("config.json", b"[" + b"[]," * 5_000_000 + b"[]]"),
    "config is a FIFO": fifo("config.json"),
    "config is a device": link("config.json", "/dev/zero"),
    "config links to itself": link("config.json", "config.json"),
    "config is huge": sparse("config.json"),
    "weights are a FIFO": fifo("selector.safetensors"),
    "weights are a device": link("selector.safetensors", "/dev/urandom"),
    "weights are huge": sparse("selector.safetensors"),
    "words are a FIFO": fifo("ordinary.txt"),
    "words are a terminal": link("ordinary.txt", "/dev/tty"),
    "words are huge": sparse("ordinary.txt"),
    "words are not UTF-8": both(content("ordinary.txt", b"\xff\n"), config(repetition=True)),
    "too many words": both(content("ordinary.txt", b"\n" * 16_000_001), config(repetition=True)),
    "NaN signal weight": config(trust__capital=NAN),
    "infinite signal weight": config(trust__lower=1e999),
    "NaN threshold": config(threshold=NAN),
    "threshold above 1": config(threshold=2),
    "unknown form": config(form="bent"),
    "encoder is a number": config(encoder=5),
    "encoder is a list": config(encoder=[]),
    "encoder is a device": config(encoder="/dev/zero"),
    "layer is a text": config(layer="2"),
    "huge layer": config(layer=10**30),
    "negative entity": config(entity=-1),
    "entity is a text": config(entity="0"),
    "many selectors": config(others=[{"trust": {}, "threshold": 0.5}] * 1000),
    "others is a number": config(others=7),
    "words that are no texts": config(not_names=[[]]),
    "dates are a number": config(dates=3),
    "unknown unit": config(features={"unit": "page"}),
    "attention is a list": config(features={"unit": "word", "attention": [1]}),
    "digests are missing": config(sha256={}),
    "digests are a list": config(sha256=[]),
}
STATIC: dict[str, Change] = {
    "wide vectors": put("encoder.safetensors", vectors=torch.ones(15, 30_000, dtype=torch.int8)),
    "tall vectors": put("encoder.safetensors", scales=torch.ones(100_000)),
    "one scale": put("encoder.safetensors", scales=torch.tensor(1.0)),
    "NaN scale": fill("encoder.safetensors", "scales", NAN),
    "scale that overflows": both(
        fill("encoder.safetensors", "scales", 3e38), fill("encoder.safetensors", "vectors", 127)
    ),
    "NaN in the convolution": fill("encoder.safetensors", "mixing.1.bias", NAN),
    "infinite edge": fill("encoder.safetensors", "edge", -INF),
    "no convolution": without("encoder.safetensors", "mixing.0.weight"),
    "gap between layers": put("encoder.safetensors", **{"mixing.9.weight": torch.ones(8, 40)}),
    "square convolution": put(
        "encoder.safetensors", **{"mixing.0.weight": torch.ones(100, 100)}
    ),
    "token id out of range": text(
        "tokenizer.json", lambda value: value["model"]["vocab"].update({"oslo": 10**9})
    ),
    "more tokens than vectors": text(
        "tokenizer.json", lambda value: value["model"]["vocab"].update({"x": 15, "y": 16})
    ),
    "tokenizer nested deeply": content("tokenizer.json", b"[" * DEEP),
    "tokenizer is empty": content("tokenizer.json", b""),
    "tokenizer is a FIFO": fifo("tokenizer.json"),
}  # fmt: skip
# The input ranges of the encoder's layers in int8.
RANGES: dict[str, Change] = {
    "NaN range": fill("ranges.safetensors", "layers.0.asked", NAN),
    "infinite range": fill("ranges.safetensors", "layers.1.narrowed", INF),
    "three rows": put("ranges.safetensors", **{"layers.0.asked": torch.ones(3, 384)}),
    "other channels": put("ranges.safetensors", **{"layers.0.asked": torch.ones(2, 7)}),
    "one channel": put("ranges.safetensors", **{"layers.2.narrowed": torch.ones(2, 1)}),
    "many channels": put("ranges.safetensors", **{"layers.0.asked": torch.ones(2, 10**6)}),
    "missing layer": without("ranges.safetensors", "layers.1.widened"),
}
# The kinds, the link gate and the span model of a finder.
KINDS_FILE, LINKS_FILE = "kinds.safetensors", "links.safetensors"
KINDS: dict[str, Change] = {
    "a sample that is broadcast": put(
        KINDS_FILE,
        **{
            "sample.contexts": torch.ones(1, 20_000, dtype=torch.int8),
            "sample.scale": torch.ones(20_000),
        },
    ),
    "a sample with NaN": put(KINDS_FILE, **{"sample.contexts": torch.full((1150, 384), NAN)}),
    "a scale without dimensions": put(KINDS_FILE, **{"sample.scale": torch.tensor(1.0)}),
    "kinds with NaN": fill(KINDS_FILE, "classifier.weight", NAN),
    "a matrix of means": put(KINDS_FILE, **{"classifier.mean": torch.ones(384, 384)}),
    "kinds of another width": put(
        KINDS_FILE,
        **{"classifier.mean": torch.ones(7), "classifier.weight": torch.ones(7, 7)},
    ),
    "a gate without weights": put(KINDS_FILE, **{"gates.0.norm.weight": torch.ones(384)}),
    "a kind of two lines": text("kinds.json", lambda value: value["kinds"].__setitem__(0, "a\nb")),
    "a kind that changes colours": text(
        "kinds.json", lambda value: value["kinds"].__setitem__(0, "\x1b[31mred")
    ),
    "a kind twice": text("kinds.json", lambda value: value["kinds"].__setitem__(0, "place")),
    "a listed name of no kind": text(
        "kinds.json", lambda value: value.__setitem__("listed", {"oslo": 99})
    ),
    "listed names without kinds": text(
        "kinds.json", lambda value: value.__setitem__("listed", ["oslo"])
    ),
    "millions of names": content("kinds.json", b'{"kinds":[],"names":[' + b'"a",' * HUGE + b'""]}'),
    "deep kinds": content("kinds.json", b"[" * DEEP + b"]" * DEEP),
    "kinds are a FIFO": fifo("kinds.json"),
    "links with NaN": fill(LINKS_FILE, "outer.weight", NAN),
    "links of another width": put(
        LINKS_FILE,
        **{
            "norm.weight": torch.ones(7),
            "norm.bias": torch.ones(7),
            "inner.weight": torch.ones(128, 7),
        },
    ),
    "links without bias": without(LINKS_FILE, "outer.bias"),
    "spans of scale 0": config(spans__scale=0),
    "spans that overflow": config(spans__link=1e308),
    "spans that are a list": config(spans=[1.0]),
}
RATIONALE: dict[str, Change] = {
    "huge hidden": config(hidden=HUGE),
    "huge classifier": config(classifier_hidden=10**12),
    "zero classifier": config(classifier_hidden=0),
    "many labels": config(labels=["x"] * 100_000),
    "no labels": config(labels=[]),
    "labels are a number": config(labels=2),
    "NaN weight": fill("weights.safetensors", "classifier.outer.bias", NAN),
    "infinite weight": fill("weights.safetensors", "selector.inner.weight", INF),
    "wide norm": put("weights.safetensors", **{"selector.norm.weight": torch.ones(100_000)}),
    "NaN threshold": config(threshold=NAN),
    "threshold is a text": config(threshold="high"),
    "gates elsewhere": config(gates_at="output"),
    "learned from a number": config(learned_from=1),
    "encoder is null": config(encoder=None),
    "layer is fractional": config(layer=1.5),
    "weights are a FIFO": fifo("weights.safetensors"),
    "config is a device": link("config.json", "/dev/zero"),
}
LANGUAGE_MODEL: dict[str, Change] = {
    "huge vocabulary": config(architecture__vocabulary=HUGE * 100),
    "vocabulary beyond 64 bits": config(architecture__vocabulary=10**30),
    "huge width": config(architecture__shape__width=HUGE),
    "many layers": config(architecture__shape__layers=10**9),
    "zero layers": config(architecture__shape__layers=0),
    "zero heads": config(architecture__shape__heads=0),
    "layers are a text": config(architecture__shape__layers="1"),
    "huge context": config(architecture__shape__context=10**10),
    "huge context of embeddings": config(
        architecture__shape__context=10**10, architecture__shape__positions="learned"
    ),
    "NaN dropout": config(architecture__shape__dropout=NAN),
    "unknown output layer": config(architecture__output="oracle"),
    "settings are a list": config(settings=[]),
    "NaN temperature": config(temperature=NAN),
    "temperature 0": config(temperature=0),
    "best step is a text": config(best_step="x"),
    "NaN embedding": fill("model.safetensors", "embedding", NAN),
    "infinite attention": fill(
        "model.safetensors", "transformer.layers.0.attention.read.weight", INF
    ),
    "wide embedding": both(
        put("model.safetensors", embedding=torch.ones(58, 20_000)),
        config(architecture__shape__width=20_000),
    ),
    "missing embedding": without("model.safetensors", "embedding"),
    "negative counts": put("statistics.safetensors", counts=-torch.ones(58, dtype=torch.int64)),
    "fractional counts": put("statistics.safetensors", counts=torch.ones(58)),
    "too many counts": put("statistics.safetensors", counts=torch.ones(10**6, dtype=torch.int64)),
    "short sums": put("statistics.safetensors", **{"test.loss": torch.ones(3)}),
    "other tokens": content("tokens.json", b'{"kind": "characters", "tokens": "abc"}'),
    "tokens nested deeply": content("tokens.json", b"[" * DEEP),
    "tokens are a number": content("tokens.json", b'{"kind": "words", "tokens": 7}'),
    "tokens are lists": content("tokens.json", b'{"kind": "words", "tokens": [[]]}'),
    "unknown tokens": content("tokens.json", b'{"kind": "runes", "tokens": ""}'),
    "log is no table": content("log.csv", b"step\nsoon\n"),
    "log is a FIFO": fifo("log.csv"),
}  # fmt: skip
BYTE_PAIRS: dict[str, Change] = {
    "token id out of range": text(
        "tokens.json", lambda value: value["tokens"]["model"]["vocab"].update({"!": 10**9})
    ),
    "no tokens": text("tokens.json", lambda value: value["tokens"].update(model=None)),
}
