"""Model folders of unknown origin are refused with one line, in bounded memory and time.

Each case changes a small valid model and signs it again, so that its digests are right.
"""

import contextlib
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save

from thresher import EntityFinder
from thresher.encoders import load_encoder
from thresher.encoders.int8_linear import int8_supported
from thresher.entities.built_in import find_model_folder
from thresher.errors import InputError
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.rationales.finder import RationaleFinder

SAVED = Path(__file__).parent / "fixtures" / "version-0.1"
MAX_GROWTH = 1 << 29  # bytes of address space
MAX_SECONDS = 5
HUGE = 20_000_000
DEEP = 5000

Change = Callable[[Path], object]


def config(**changes: object) -> Change:
    """Change values of config.json; a name a__b changes b inside a."""

    def change(folder: Path) -> None:
        content = json.loads((folder / "config.json").read_text())
        for name, value in changes.items():
            *outer, last = name.split("__")
            inner = content
            for key in outer:
                inner = inner[key]
            inner[last] = value
        (folder / "config.json").write_text(json.dumps(content))

    return change


def content(name: str, data: bytes) -> Change:
    return lambda folder: (folder / name).write_bytes(data)


def text(name: str, edit: Callable[[dict], object]) -> Change:
    """Edit a JSON file in place."""

    def change(folder: Path) -> None:
        value = json.loads((folder / name).read_text())
        edit(value)
        (folder / name).write_text(json.dumps(value))

    return change


def tensors(name: str, edit: Callable[[dict[str, torch.Tensor]], object]) -> Change:
    """Edit the tensors of a safetensors file in place."""

    def change(folder: Path) -> None:
        values = {key: each.clone() for key, each in load_file(folder / name).items()}
        edit(values)
        (folder / name).write_bytes(save(values, metadata={"format": "pt"}))

    return change


def fill(name: str, tensor: str, value: float) -> Change:
    return tensors(name, lambda values: values[tensor].view(-1)[-1:].fill_(value))


def put(name: str, **values: torch.Tensor) -> Change:
    return tensors(name, lambda all_values: all_values.update(values))


def fifo(name: str) -> Change:
    def change(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return change


def link(name: str, target: str) -> Change:
    def change(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return change


def sparse(name: str, size: int = 1 << 42) -> Change:
    return lambda folder: os.truncate(folder / name, size)


def without(name: str, tensor: str) -> Change:
    return tensors(name, lambda values: values.pop(tensor))


def both(*changes: Change) -> Change:
    return lambda folder: [change(folder) for change in changes]


NAN, INF = float("nan"), float("inf")
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
GROUPS = {
    "english": {**RANGES, **KINDS},
    "finder": FINDER,
    "static": STATIC,
    "language-model": LANGUAGE_MODEL,
    "byte-pair-language-model": BYTE_PAIRS,
    "rationale": RATIONALE,
    "bert": BERT,
    "other-bert": OTHER_BERT,
}
LOAD: dict[str, Callable[[Path], object]] = {
    "english": lambda folder: EntityFinder.load(folder, device="cpu"),
    "finder": lambda folder: EntityFinder.load(folder, device="cpu"),
    "static": lambda folder: EntityFinder.load(folder, device="cpu"),
    "language-model": TrainedLanguageModel.read,
    "byte-pair-language-model": TrainedLanguageModel.read,
    "rationale": lambda folder: RationaleFinder.load(folder, device="cpu"),
    "bert": lambda folder: load_encoder(str(folder), device="cpu"),
    "other-bert": lambda folder: load_encoder(str(folder), device="cpu"),
}
CASES = [(group, name) for group, changes in GROUPS.items() for name in changes]


@pytest.fixture
def new_folder(tmp_path, small, new_bert):
    """A function of a group: a copy of a valid model that can be changed."""

    def copy(group: str) -> Path:
        if (SAVED / group).exists():
            shutil.copytree(SAVED, tmp_path / "version-0.1")  # with the encoder beside it
            return tmp_path / "version-0.1" / group
        if group == "english":
            return Path(shutil.copytree(find_model_folder("english"), tmp_path / "english"))
        if group == "static":
            return Path(shutil.copytree(small, tmp_path / "static"))
        folder = new_bert(["marie", "left"], width=8, layers=2)
        if group == "other-bert":
            config(hidden_act="relu")(folder)
        return folder

    return copy


def sign(folder: Path) -> None:
    """Write the digests of the changed files into config.json, if it can have any."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        path = folder / "config.json"
        if not path.is_file() or path.stat().st_size > 1 << 20:
            return
        content = json.loads(path.read_bytes())
        if not isinstance(content, dict) or not isinstance(content.get("sha256"), dict):
            return
        for name in content["sha256"]:
            file = folder / name
            if file.is_file() and file.stat().st_size < 1 << 30:
                content["sha256"][name] = hashlib.sha256(file.read_bytes()).hexdigest()
        path.write_text(json.dumps(content))


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Let the process grow by at most `MAX_GROWTH` and the block take at most `MAX_SECONDS`."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + MAX_GROWTH
    start = time.process_time()
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert time.process_time() - start < MAX_SECONDS


@pytest.mark.parametrize("group", list(GROUPS))
def test_the_unchanged_models_load(new_folder, group):
    folder = new_folder(group)
    sign(folder)
    with limited():
        assert LOAD[group](folder) is not None


@pytest.mark.parametrize(("group", "name"), CASES)
def test_a_hostile_folder_is_refused_with_one_line(new_folder, group, name):
    unused = {"other channels", "one channel", "many channels", "missing layer"}
    if group == "english" and name in unused and not int8_supported():
        pytest.skip("ranges are used only if the CPU supports int8")
    folder = new_folder(group)
    GROUPS[group][name](folder)
    sign(folder)
    with limited(), pytest.raises(InputError) as raised:
        LOAD[group](folder)
    message = str(raised.value)
    assert len(message.splitlines()) == 1
    assert "alloc" not in message
    assert "MemoryError" not in message


@pytest.mark.parametrize("name", ["huge hidden", "NaN weight", "config is a FIFO", "deep lists"])
def test_the_command_line_exits_with_1_and_one_line(new_folder, tmp_path, name):
    folder = new_folder("finder")
    FINDER[name](folder)
    sign(folder)
    (tmp_path / "notes.txt").write_text("Marie left.")
    ran = run("find", tmp_path / "notes.txt", "--model", folder)
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert len(ran.stderr.splitlines()) == 1


EVIL = """
from pathlib import Path
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

Path({marker!r}).touch()

class Config(BertConfig): pass
class Model(BertModel): pass
class Tokens(PreTrainedTokenizerFast): pass
"""


@pytest.mark.parametrize("where", ["config.json", "tokenizer_config.json"])
@pytest.mark.parametrize("group", ["bert", "other-bert"])
def test_code_in_an_encoder_folder_is_never_run(new_folder, tmp_path, group, where):
    folder, marker = new_folder(group), tmp_path / "marker"
    (folder / "evil.py").write_text(EVIL.format(marker=str(marker)))
    classes = {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}
    if where != "config.json":
        classes = {"AutoTokenizer": ["evil.Tokens", "evil.Tokens"]}
    text(where, lambda value: value.update(auto_map=classes))(folder)
    model = Path(shutil.copytree(SAVED / "finder", tmp_path / "model"))
    config(encoder=str(folder))(model)
    (tmp_path / "notes.txt").write_text("Marie left.")
    ran = run("find", tmp_path / "notes.txt", "--model", model, answers="yes\n" * 100)
    assert ran.returncode == 1
    assert "program code of its own (auto_map), which is never run" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert not marker.exists()


def run(*arguments: object, answers: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "thresher", *map(str, arguments), "--device", "cpu"],
        input=answers,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
