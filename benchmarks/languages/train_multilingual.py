"""Train the multilingual finders; three minutes each on a GPU.

    python -m benchmarks.languages.train_multilingual [-o models] [--seeds 0 1 2] [--layer 7]

1. Gates are trained on English and Danish raw text, with the priors casing and repetition.
2. Chinese has no capitals: the gates of step 1 on Chinese text give pseudo-labels, and gates are
   trained again on the text of all three languages. There are as many names among the labels as
   the gates find in English and Danish; the gates themselves open for a third of Chinese words.

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
from thresher.entities.finding.signal_weights import Scores
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
    of_cased = first.gate_scores(cased)
    labels = labels_at_rate(first.gate_scores(texts["zh"]), float(of_cased.mean()))
    gates = np.concatenate([np.full_like(of_cased, np.nan), labels])
    return EntityFinder.fit_words(
        cased + texts["zh"],
        encoder=encoder,
        settings=settings,
        prior_knowledge=PriorKnowledge(priors=PRIORS, gates=gates),
    )


def labels_at_rate(gates: Scores, rate: float) -> Scores:
    """Return 1 for the words with the largest gates, as many as the rate says, 0 for most others.

    Next to the names there are as many words whose label is unknown (½).
    """
    ranked = np.sort(gates)[::-1]
    least_name, most_other = (ranked[int(part * len(ranked))] for part in (rate, 2 * rate))
    labels = np.full_like(gates, 0.5)
    labels[gates >= least_name] = 1.0
    labels[gates <= most_other] = 0.0
    return labels


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
