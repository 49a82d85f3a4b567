"""The commands that are interrupted, on tiny corpora with a tiny encoder, and their files.

Every command starts with an output of an earlier run (another seed, or another text), which it is
told to replace. Afterwards the output must be that one or the new one, complete.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

from thresher.encoders import training as encoder_training

PEOPLE = "Ingrid Tomasz Magda Elias Rosa Amara Helen Moussa Nadia Viktor Leila Hugo".split()
PLACES = "Oslo Larvik Hull Gdynia Boston Dakar Lisbon Porto Galway Toronto Bergen Kyoto".split()
FORMS = (
    "{a} went to {p} with {b} in the morning.",
    "In {p} the old boats are counted by {a} every winter.",
    "Nobody in the village knew why {a} had left.",
    "When the rain stopped, {b} took the train to {p}.",
    "The roof leaked and the paint came off the door.",
    "They say that the figs were ripe and that the dog slept.",
)
LM = "--steps 12 --evaluate-every 3 --batch 2 --width 16 --layers 1 --heads 1 --context 16".split()
RATIONALES = "--steps 12 --encoder encoder".split()


@dataclass(frozen=True)
class Case:
    """A command and its files.

    name: as in the table of results
    arguments: of `thresher`, run in the folder of the case
    old: further arguments that make the earlier output
    resume: further arguments that continue a run which was killed
    outputs: the names of all that the command writes
    """

    name: str
    arguments: tuple[str, ...]
    outputs: tuple[str, ...] = ("out",)
    old: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()

    @property
    def is_slow(self) -> bool:
        """Whether the command starts further processes, which takes seconds."""
        return self.name in ("find --workers", "find --engine ray")


CASES = (
    Case(
        "fit",
        ("fit", "text.txt", "--encoder", "encoder", "--epochs", "4", "-o", "out", "--force"),
        old=("--seed", "7"),
        resume=("--resume",),
    ),
    Case(
        "fit --train-encoder",
        ("fit", "text.txt", "--train-encoder", "--epochs", "2", "-o", "out", "--force"),
        outputs=("out", "out-encoder"),
        old=("--seed", "7"),
        resume=("--resume",),
    ),
    Case(
        "lm train",
        ("lm", "train", "text.txt", *LM, "-o", "out", "--force"),
        old=("--seed", "7"),
        resume=("--resume",),
    ),
    Case(
        "rationale fit",
        ("rationale", "fit", "labelled.csv", *RATIONALES, "-o", "out", "--force"),
        old=("--seed", "7"),
    ),
    Case(
        "distill",
        ("distill", "model", "text.txt", "--epochs", "1", "-o", "out", "--force"),
        old=("--seed", "7"),
    ),
    Case(
        "find",
        ("find", "text.txt", "--model", "model", "-o", "out.jsonl"),
        outputs=("out.jsonl",),
        old=("--threshold", "0.99"),
    ),
    Case(
        "find --workers",
        ("find", "text.txt", "--model", "model", "-o", "out.jsonl", "--workers", "2"),
        outputs=("out.jsonl",),
        old=("--threshold", "0.99"),
    ),
    Case(
        "find --engine ray",
        (*"find text.jsonl --model model --engine ray --workers 1 -o out".split(),),
    ),
)


def sentences(count: int, *, seed: int = 0) -> list[str]:
    """Return sentences with names."""
    draw = random.Random(seed)
    return [
        draw.choice(FORMS).format(
            a=draw.choice(PEOPLE), b=draw.choice(PEOPLE), p=draw.choice(PLACES)
        )
        for _ in range(count)
    ]


def write_inputs(folder: Path, *, lines: int = 90) -> None:
    """Write the texts that the commands read."""
    texts = sentences(lines)
    (folder / "text.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    records = (f'{{"id": {number}, "text": "{text}"}}\n' for number, text in enumerate(texts))
    (folder / "text.jsonl").write_text("".join(records), encoding="utf-8")
    labelled = (f'"{text}",{"rain" if "rain" in text else "dry"}\n' for text in texts)
    (folder / "labelled.csv").write_text("text,label\n" + "".join(labelled), encoding="utf-8")


def write_encoder(folder: Path) -> None:
    """Write an untrained BERT of 64 dimensions whose tokens are the words of the texts."""
    import torch  # noqa: PLC0415
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors  # noqa: PLC0415
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast  # noqa: PLC0415

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = {word for text in sentences(500) for word in text.lower().strip(".").split()}
    ids = {token: number for number, token in enumerate([*special, ".", ",", *sorted(words)])}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    named = {f"{token[1:-1].lower()}_token": token for token in special}
    wrapped: Any = PreTrainedTokenizerFast
    wrapped(tokenizer_object=tokenizer, **named).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(ids),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
    )
    torch.manual_seed(0)
    model: Any = BertModel
    model(config).save_pretrained(folder)


@contextmanager
def small_sizes() -> Iterator[None]:
    """Let runs take about a second: fewer steps, smaller encoders, smaller blocks of input."""
    small = encoder_training.SIZES["small"]
    tiny = replace(
        small,
        shape=replace(small.shape, width=16, layers=2, heads=2, context=16),
        settings=replace(small.settings, steps=8, batch=2, evaluate_every=2),
    )
    with (
        mock.patch.object(encoder_training, "SIZES", {"small": tiny, "large": tiny}),
        mock.patch.object(encoder_training, "MIN_WORDS", 100),
        mock.patch("thresher.entities.training.fit._MIN_STEPS", 4),
        mock.patch("thresher.entities.training.student._MIN_STEPS", 20),
        mock.patch("thresher.bulk.blocks.MAX_BLOCK_BYTES", 1500),
    ):
        yield
