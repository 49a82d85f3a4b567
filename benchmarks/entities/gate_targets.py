"""What the gates of the English students learn on raw text.

    log-odds of P(open) = max(mean of two finders, mean of their gates for terms + TERM_LOG_ODDS)

Mean of two finders: the teacher and the multilingual model were both trained without labels. Their
encoders know different words, so a weighted mean of their log-odds is better than either. The
multilingual encoder is too slow for the English models, but its gates can be learned.

Gates for terms: names of chemicals and diseases have no capitals, so the gates of both finders are
often closed. The example names of these two built-in kinds give a gate for each of them, which is
trained as the kind gates of `fit --kinds` are, on the word vectors of either encoder. Finding takes
lower case as evidence against an entity, so something is added to the log-odds of terms.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.data import MODELS, TEACHER, raw_english
from benchmarks.entities.more_text import more_english
from thresher.entities.built_in import MULTILINGUAL
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.signal_weights import Scores, gate_log_odds
from thresher.entities.finding.signals import Flags
from thresher.entities.finding.text_finder import SplitText
from thresher.entities.kinds.example_prior import (
    NO_KIND,
    PriorSettings,
    example_prior,
    kinds_of_words,
)
from thresher.entities.kinds.examples import KindExamples
from thresher.entities.kinds.gates import kind_scores, train_kind_gates

MULTILINGUAL_WEIGHT = 0.5
TERM_KINDS = ("chemical", "disease")
TERM_LOG_ODDS = 0.4  # added to those of the gates for terms
OTHERS_PER_EXAMPLE = 2  # words of the same kinds that self-training adds, for each example word
_FILE = MODELS / "gate_targets.npz"
_TEACHER_VECTORS = MODELS / "teacher_vectors.npy"
_SENTENCES_PER_GROUP = 2048


class _Encoded(NamedTuple):
    """What one finder says about every word of the raw text; all log-odds: (words,)."""

    gates: Scores
    links: Scores
    terms: Scores


@dataclass(frozen=True)
class GateTargets:
    """Targets for every word of the raw text.

    gates: (words,), P(open)   links: (words,), P(linked to the next word)
    vectors: of the teacher, (words, width)
    """

    gates: Scores
    links: Scores
    vectors: NDArray[np.float16]

    @classmethod
    def of_raw_text(cls) -> "GateTargets":
        """Return the targets for `raw_sentences()`."""
        if not _FILE.exists():
            _write_targets()
        with np.load(_FILE) as saved:
            gates, links, terms = (saved[name] for name in _Encoded._fields)  # (2, words) each
        weights = np.array([1 - MULTILINGUAL_WEIGHT, MULTILINGUAL_WEIGHT], dtype=np.float32)
        log_odds = np.maximum(weights @ gates, terms.mean(axis=0) + TERM_LOG_ODDS)
        vectors = np.load(_TEACHER_VECTORS, mmap_mode="r")
        return cls(_sigmoid(log_odds), _sigmoid(weights @ links), vectors)


def _sigmoid(log_odds: Scores) -> Scores:
    return (1 / (1 + np.exp(-log_odds))).astype(np.float32)


def _write_targets() -> None:
    """Write the log-odds of the teacher and of the multilingual model, and vectors, to files."""
    sentences = raw_sentences()
    _FILE.parent.mkdir(parents=True, exist_ok=True)
    both = [_encode(EntityFinder.load(TEACHER), sentences, vectors_file=_TEACHER_VECTORS)]
    both.append(_encode(EntityFinder.load(MULTILINGUAL), sentences))
    gates, links, terms = (np.stack(each) for each in zip(*both, strict=True))
    np.savez(_FILE, gates=gates, links=links, terms=terms)


def _encode(
    finder: EntityFinder, sentences: SplitText, *, vectors_file: Path | None = None
) -> _Encoded:
    """Return what a finder says about every word.

    vectors_file: where to save the word vectors
    """
    scorer = finder.with_kinds(None).word_scorer
    gates, links, vectors = [], [], []
    for low in range(0, len(sentences), _SENTENCES_PER_GROUP):
        encoded = scorer.encode(sentences[low : low + _SENTENCES_PER_GROUP])
        gates.append(encoded.gate_scores)
        assert encoded.links is not None
        links.append(encoded.links)
        vectors.append(encoded.vectors.astype(np.float16))
    of_words = np.concatenate(vectors)
    if vectors_file is not None:
        np.save(vectors_file, of_words)
    possible = finder.model.signal_extractor.extract(sentences).possible
    terms = gate_log_odds(_term_scores(sentences, of_words, possible))
    return _Encoded(gate_log_odds(np.concatenate(gates)), np.concatenate(links), terms)


def _term_scores(sentences: SplitText, vectors: NDArray[np.float16], possible: Flags) -> Scores:
    """Return the larger P(open) of the gates for terms for every word: (words,).

    The gates learn from the raw text of the teacher. Dictionaries and encyclopedias mention the
    examples in other contexts than abstracts do, where lower-case terms are frequent.

    vectors: (words, width)   possible: (words,), whether a word can be part of an entity
    """
    names = KindExamples.english().names
    examples = KindExamples({kind: names[kind] for kind in TERM_KINDS})
    words = sum(map(len, raw_english()))
    kinds = kinds_of_words(sentences, examples)[:words]
    rate = OTHERS_PER_EXAMPLE * float((kinds != NO_KIND).mean())
    prior = example_prior(
        vectors[:words],
        kinds,
        possible[:words],
        count=len(TERM_KINDS),
        settings=PriorSettings(rate=rate),
    )
    gates = train_kind_gates(vectors[:words], prior, device=torch.device("cpu"))
    scores: Scores = kind_scores(gates, vectors).max(axis=1)
    return scores


def raw_sentences() -> list[list[str]]:
    """Return the sentences of all raw text that have words."""
    return [words for words in (*raw_english(), *more_english()) if words]
