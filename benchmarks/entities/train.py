"""Train the finders that `benchmarks.entities` measures; about a minute each on a GPU.

    python -m benchmarks.entities.train [-o models] [--only default] [--seeds 0 1 2]

Each finder is saved in a folder `row-seed`; existing folders are kept. Row "teacher", seed 0,
is the model that the English models of the package imitate; each other row changes one default of
`fit`. The training times
are written to benchmarks/results/entities/training/.
"""

import argparse
import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from benchmarks.data import ALL_RESULTS, MODELS, raw_english
from benchmarks.encoder import default_encoder
from thresher.entities.finder import EntityFinder
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.settings import EntitySettings

TIMES = ALL_RESULTS / "entities" / "training"


@dataclass(frozen=True)
class Row:
    """One way to train a finder.

    settings: changes to the default `EntitySettings`
    layer: the layer of the encoder, None for its default
    """

    settings: dict[str, Any] = field(default_factory=dict)
    prior_knowledge: PriorKnowledge = field(default_factory=PriorKnowledge)
    layer: int | None = None


TEACHER = "teacher"
ROWS = {
    TEACHER: Row({"contrast_share": 0.5}, layer=3),
    "repetition undecided": Row({"contrast_share": 0.5, "repeated_rate": 0.5}, layer=3),
    # Without contrast, a row takes a CPU core four minutes.
    "no contrast at layer 3": Row({"contrast": 0.0}, layer=3),
    "repetition undecided at layer 3": Row({"contrast": 0.0, "repeated_rate": 0.5}, layer=3),
    "no word list at layer 3": Row(
        {"contrast": 0.0}, PriorKnowledge(not_names=frozenset()), layer=3
    ),
    "default": Row(),
    "no word list": Row(prior_knowledge=PriorKnowledge(not_names=frozenset())),
    "no contrast": Row({"contrast": 0.0}),
    "more contrast": Row({"contrast_share": 0.5}),
    "no repetition": Row(prior_knowledge=PriorKnowledge(priors=("casing",))),
}


def folder_name(row: str, seed: int) -> str:
    return f"{row.replace(' ', '-')}-{seed}"


def train_row(
    name: str, seed: int, sentences: list[list[str]], weights: str | None, out: Path
) -> None:
    """Train and save the finder of one row and seed, unless its folder exists."""
    folder = out / folder_name(name, seed)
    if folder.exists():
        return
    row = ROWS[name]
    encoder = default_encoder(weights, layer=row.layer)
    started = time.perf_counter()
    finder = EntityFinder.fit_words(
        sentences,
        encoder=encoder,
        settings=EntitySettings(seed=seed, **row.settings),
        prior_knowledge=row.prior_knowledge,
    )
    seconds = time.perf_counter() - started
    finder.save(folder)
    figures = {
        "device": _device_name(encoder.device),
        "seconds": round(seconds, 1),
        "sentences": len(sentences),
        "words": sum(map(len, sentences)),
        "threshold": round(finder.threshold, 3),
    }
    TIMES.mkdir(parents=True, exist_ok=True)
    (TIMES / f"{folder.name}.json").write_text(json.dumps(figures) + "\n", encoding="utf-8")
    print(f"{folder.name:24s} {figures}", flush=True)


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--out", type=Path, default=MODELS)
    parser.add_argument("--only", nargs="*", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--encoder", default=None, help="a folder with the encoder's weights")
    options = parser.parse_args()
    sentences = raw_english()
    print(f"{len(sentences)} sentences, {sum(map(len, sentences))} words", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        for seed in options.seeds:
            train_row(name, seed, sentences, options.encoder, options.out)


if __name__ == "__main__":
    main()
