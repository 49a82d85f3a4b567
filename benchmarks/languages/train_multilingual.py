"""Train the multilingual finders; on one core about five minutes of CPU time each.

    python -m benchmarks.languages.train_multilingual [-o models] [--seeds 0 1 2] [--work FOLDER]

The text is encoded once, in int8 as the model runs on CPUs, into WORK/vectors.npy (1 GB).

1. Gates are trained on English and Danish raw text, with the priors casing and repetition.
2. Chinese has no capitals: the gates of step 1 on Chinese text are pseudo-labels
   (`chinese_labels`), and gates are trained again on the text of all three languages.
3. A second selector is trained on the same text, with dates as entities (`date_labels`).
4. A link gate is trained on the English and Danish text.

Each finder is saved in a folder `multilingual-seed`. Seed 0 becomes the model of the package
(`benchmarks.languages.build_multilingual`).
"""

import argparse
import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.data import MODELS
from benchmarks.languages.date_labels import date_labels, words_of_dates
from benchmarks.languages.multilingual_data import training_text
from thresher.encoders import Encoder, load_encoder
from thresher.encoders.protocol import Int8Encoder
from thresher.entities.finding.link_gate import LinkGate
from thresher.entities.finding.signal_weights import CASE_TRUST_WITH_SPANS, TRUST, Scores
from thresher.entities.loading import in_int8, input_ranges
from thresher.entities.model import FinderModel
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.selectors import CalibratedSelector
from thresher.entities.training.boundaries import links_of
from thresher.entities.training.fit import build_model
from thresher.entities.training.link_training import fit_link_gate, link_targets
from thresher.entities.training.loop import TrainingCorpus, train_selectors
from thresher.entities.training.raw_text import RawText
from thresher.entities.training.settings import EntitySettings
from thresher.entities.training.span_likelihood import fit_span_model
from thresher.entities.training.state import TrainingState
from thresher.gates.selector import Selector, open_probabilities
from thresher.gates.word_vectors import UnitIndex, cache_vectors
from thresher.text.indexed_sentences import IndexedSentences

PRIORS = PriorKnowledge(priors=("repetition", "casing"))
MIN_NAME_GATE, MAX_OTHER_GATE = 0.85, 0.1  # Chinese gates beyond these are pseudo-labels
_SENTENCES_PER_LANGUAGE = 60  # of raw text, on which the input ranges are measured
CASELESS = -1.2  # log-odds of words without case, chosen on the tune splits of Chinese and Amharic
# Most texts are in other languages than the training text, where case says more beside the gates.
CASE_FACTOR = TRUST / CASE_TRUST_WITH_SPANS
_BLOCK, _EVERY = 50, 5  # of each five blocks of 50 sentences, one is used for calibration

Labels = NDArray[np.float32]


@dataclass(frozen=True)
class TrainingText:
    """The text of all languages with the vectors of its words; Chinese comes last.

    vectors: (words, width)   ranges: the input ranges of the encoder's layers
    cased: English and Danish   chinese: the signals of the Chinese text
    """

    encoder: Encoder
    ranges: dict[str, Tensor]
    vectors: NDArray[np.float16]
    cased: RawText
    chinese: RawText

    @property
    def cased_words(self) -> int:
        """The number of English and Danish words."""
        return len(self.cased.prior)

    @cached_property
    def sentences(self) -> IndexedSentences:
        """All sentences."""
        return IndexedSentences.from_sentences([*self.cased.sentences, *self.chinese.sentences])

    @classmethod
    def encode(cls, path: Path) -> "TrainingText":
        """Encode the text into a file, unless the file exists."""
        texts = training_text()
        float32 = load_encoder("multilingual", device="cpu")
        assert isinstance(float32, Int8Encoder)
        sample = []
        for own in texts.values():
            sample += own[:: max(1, len(own) // _SENTENCES_PER_LANGUAGE)]
        ranges = input_ranges(float32, sample)
        encoder = in_int8(float32, ranges)
        cased, chinese = [*texts["en"], *texts["da"]], texts["zh"]
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            cache_vectors(encoder, [*cased, *chinese], path.with_suffix(".part"))
            path.with_suffix(".part").rename(path)
        analysed = [
            RawText.analyse(
                IndexedSentences.from_sentences(each),
                PRIORS,
                EntitySettings(),
                common=encoder.common_words,
            )
            for each in (cased, chinese)
        ]
        return cls(encoder, ranges, np.load(path, mmap_mode="r"), *analysed)

    def train(self, prior: Labels, settings: EntitySettings) -> Selector:
        """Train a selector on the first sentences, as many as have a prior; round its weights.

        prior: (words,), NaN where it gives no probability
        """
        sentences = self.sentences if len(prior) > self.cased_words else self.cased.sentences
        units = UnitIndex.of_words(sentences)
        corpus = TrainingCorpus(sentences, self.vectors[: len(prior)], units, prior)
        state = TrainingState.new(settings, self.encoder.width, self.encoder.device)
        return train_selectors(state, self.encoder, corpus, settings)[0].half().float()

    def gates(self, selector: Selector) -> Scores:
        """Return P(open) of all words: (words,)."""
        return open_probabilities(selector, self.vectors, self.encoder.device).numpy()


def chinese_labels(gates: Scores, possible: NDArray[np.bool_]) -> Labels:
    """Return 1 for names, 0 for other words, NaN where the gates are not sure: (words,).

    gates: (words,), of gates that were trained on languages with capitals
    """
    sure = np.where(gates > MIN_NAME_GATE, 1.0, np.where(gates < MAX_OTHER_GATE, 0.0, np.nan))
    return np.where(possible, sure, 0.0).astype(np.float32)


def train(text: TrainingText, *, seed: int) -> FinderModel:
    """Train a model with two selectors; the second one also finds dates.

    What was fitted to capitals for the first one is used for both: dates have none in many
    languages, so that a span model fitted with the second one would take them for other words.
    """
    settings = EntitySettings(contrast=0.0, seed=seed)
    first = text.train(text.cased.prior, settings)
    of_chinese = text.gates(first)[text.cased_words :]
    labels = chinese_labels(of_chinese, text.chinese.signals.possible)
    prior = np.concatenate([text.cased.prior, labels])
    dates = date_labels(text.sentences)
    cased_vectors, device = text.vectors[: text.cased_words], text.encoder.device
    link_gate = fit_link_gate(cased_vectors, link_targets(text.cased), seed=seed, device=device)
    names = calibrated(text, text.train(prior, settings), link_gate)
    with_dates = text.train(np.where(np.isnan(dates), prior, dates), settings)
    selectors = (names, replace(names, selector=with_dates, dates=words_of_dates(text.sentences)))
    raw = text.cased
    fitted = FinderModel(
        encoder=text.encoder.name,
        layer=text.encoder.layer,
        selectors=selectors,
        ordinary=ordinary_words(text),
        not_names=raw.not_names,
        link_gate=link_gate,
    )
    model = build_model(fitted, settings, PRIORS, text.sentences, ranges=text.ranges)
    return replace(model, adapts=True)


def ordinary_words(text: TrainingText) -> frozenset[str]:
    """Return the words of all three languages that are not rare in general."""
    return (text.cased.ordinary or frozenset()) | (text.chinese.ordinary or frozenset())


def calibrated(
    text: TrainingText, selector: Selector, link_gate: LinkGate | None
) -> CalibratedSelector:
    """Fit signal weights, span model and threshold to a fifth of the English and Danish text."""
    raw = text.cased
    starts = UnitIndex.of_words(raw.sentences).starts
    chosen = [i for i in range(len(raw.sentences)) if i // _BLOCK % _EVERY == 0]
    rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in chosen])
    vectors, device = text.vectors[rows], text.encoder.device
    sample = replace(
        raw,
        sentences=IndexedSentences.from_sentences([raw.sentences[i] for i in chosen]),
        prior=raw.prior[rows],
        signals=raw.signals.rows(rows),
    )
    gates = open_probabilities(selector, vectors, device).numpy()
    links = None if link_gate is None else links_of(link_gate, vectors, device)
    own = CalibratedSelector.calibrate(
        selector,
        gates,
        sample.sentences,
        sample.signals,
        not_names=sample.not_names,
        span_model=fit_span_model(sample, gates, links),
        links=links,
    )
    estimated = own.signal_weights
    weights = replace(
        estimated,
        capital=CASE_FACTOR * estimated.capital,
        lower=CASE_FACTOR * estimated.lower,
        caseless=CASELESS,
        rate=0.0,  # adaptation to the text at hand takes its place
    )
    return replace(own, signal_weights=weights)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--out", type=Path, default=MODELS)
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--work", type=Path, default=MODELS / "multilingual-text")
    options = parser.parse_args()
    text = TrainingText.encode(options.work / "vectors.npy")
    for seed in options.seeds:
        started = time.process_time()
        train(text, seed=seed).write(options.out / f"multilingual-{seed}")
        print(f"multilingual-{seed}: {time.process_time() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
