"""Train the multilingual finders; three minutes each on a GPU.

    python -m benchmarks.languages.train_multilingual [-o models] [--seeds 0 1 2] [--layer 7]

1. Gates are trained on English and Danish raw text, with the priors casing and repetition.
2. Chinese has no capitals: the confident gates of step 1 on Chinese text are pseudo-labels, and
   gates are trained again on the text of all three languages.

Each finder is saved in a folder `multilingual-seed`. Seed 0 becomes the model of the package
(`benchmarks.languages.build_multilingual`).
"""

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks.data import MODELS
from benchmarks.languages.multilingual_data import training_text
from thresher.encoders import Encoder, load_encoder
from thresher.encoders.multilingual.encoder import MultilingualE5
from thresher.entities.finder import EntityFinder
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.settings import EntitySettings

PRIORS = ("repetition", "casing")


def train(encoder: Encoder, *, seed: int) -> EntityFinder:
    """Train a finder on raw text of three languages."""
    settings = EntitySettings(contrast=0.0, seed=seed)
    texts = training_text()
    cased = texts["en"] + texts["da"]
    first = EntityFinder.fit_words(
        cased, encoder=encoder, settings=settings, prior_knowledge=PriorKnowledge(priors=PRIORS)
    )
    unknown = np.full(sum(map(len, cased)), np.nan, dtype=np.float32)
    gates = np.concatenate([unknown, first.gate_scores(texts["zh"])])
    return EntityFinder.fit_words(
        cased + texts["zh"],
        encoder=encoder,
        settings=settings,
        prior_knowledge=PriorKnowledge(priors=PRIORS, gates=gates),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--out", type=Path, default=MODELS)
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--layer", type=int, default=None)
    parser.add_argument("--encoder", default=None, help="a folder with the encoder's weights")
    options = parser.parse_args()
    if options.encoder is None:
        encoder = load_encoder("multilingual", layer=options.layer)
    else:
        encoder = MultilingualE5(options.encoder, layer=options.layer, device="cuda")
    for seed in options.seeds:
        started = time.perf_counter()
        train(encoder, seed=seed).save(options.out / f"multilingual-{seed}")
        print(f"multilingual-{seed}: {time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
