"""From raw sentences to everything a finder needs, in steps that can be taken up again."""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from thresher.encoders.protocol import Encoder
from thresher.entities.checkpoints import load_checkpoint, save_checkpoint
from thresher.entities.decoding import best_threshold, candidates
from thresher.entities.priors import (
    CasingPrior,
    ExpectationPrior,
    LetterlessPrior,
    Prior,
    RarityPrior,
    RepetitionPrior,
    WordListPrior,
    first_opinion,
)
from thresher.entities.selector import Selector
from thresher.entities.settings import Settings
from thresher.entities.statistics import WordStatistics
from thresher.entities.training import (
    Corpus,
    EpochReport,
    TrainingState,
    steps_per_epoch,
    train,
)
from thresher.entities.vectors import cache_vectors
from thresher.entities.views import Observations, Scores, Trust
from thresher.entities.word_lists import ENGLISH_NOT_NAMES
from thresher.errors import InputError

LEAST_WORDS = 200  # fewer teach nothing
FEW_WORDS = 20_000  # fewer teach little
_LEAST_STEPS = 150  # a small text is read more often, until the gates have moved
_ROWS = 65_536  # vectors scored at a time
PRIORS = ("casing", "repetition", "rarity", "none")


class Progress(Protocol):
    """Where fitting tells what it does."""

    def stage(self, name: str, total: int) -> Callable[[int], None]:
        """A new stage with so many steps; the function it returns counts steps done."""
        ...

    def note(self, message: str) -> None:
        """One line the user should see."""
        ...


class SilentProgress:
    """Tells nothing."""

    def stage(self, name: str, total: int) -> Callable[[int], None]:
        """Count nothing."""
        return lambda steps: None

    def note(self, message: str) -> None:
        """Say nothing."""


@dataclass(frozen=True, kw_only=True)
class Beliefs:
    """What is believed of words before any is read; all of it may be changed or left out.

    priors: which readings of raw text to use, the first with an opinion deciding
    names, not_names: words known to be entities, and known not to be; a name is a name even if
    it is on both lists
    rates, selected: stated expectations, P(entity | feature) and the overall rate
    """

    priors: Sequence[str] = ("repetition", "casing")
    names: Set[str] = field(default=frozenset(), repr=False)
    not_names: Set[str] = field(default=ENGLISH_NOT_NAMES, repr=False)
    rates: Mapping[str, float] = field(default_factory=dict)
    selected: float | None = None

    def __post_init__(self) -> None:
        for name in self.priors:
            if name not in PRIORS:
                raise InputError(f"unknown prior {name!r}; choose from {', '.join(PRIORS)}")
        object.__setattr__(self, "not_names", frozenset(self.not_names) - self.names)

    def opinions(
        self, sentences: Sequence[Sequence[str]], statistics: WordStatistics, settings: Settings
    ) -> NDArray[np.float32]:
        """The prior probability of each word, NaN for no opinion."""
        readings: dict[str, Prior] = {
            "casing": CasingPrior(statistics),
            "repetition": RepetitionPrior(statistics, settings.repeated_rate),
            "rarity": RarityPrior(statistics, settings.rare_rate),
        }
        chain: list[Prior] = [
            LetterlessPrior(),
            WordListPrior(self.names, 1.0),
            WordListPrior(self.not_names, 0.0),
        ]
        if self.rates or self.selected is not None:
            chain.append(ExpectationPrior(statistics, self.rates, self.selected))
        chain += [readings[name] for name in self.priors if name != "none"]
        return first_opinion(chain, sentences)


@dataclass(frozen=True)
class Fitted:
    """What fitting found out."""

    selector: Selector
    trust: Trust
    threshold: float
    ordinary: frozenset[str]
    reports: tuple[EpochReport, ...]


def fit_selector(
    sentences: Sequence[Sequence[str]],
    encoder: Encoder,
    *,
    settings: Settings,
    beliefs: Beliefs,
    work: Path,
    resume: bool = False,
    progress: Progress,
) -> Fitted:
    """Learn gates from raw sentences; `work` holds what a stopped run goes on from."""
    words = sum(map(len, sentences))
    if words < LEAST_WORDS:
        raise InputError(f"{words} words are too few to learn from; give at least {LEAST_WORDS}")
    if words < FEW_WORDS:
        progress.note(
            f"{words:,} words are few to learn from: expect a rough model below {FEW_WORDS:,}"
        )
    settings = _long_enough(settings, len(sentences))
    statistics = WordStatistics.of(sentences)
    prior = beliefs.opinions(sentences, statistics, settings)
    mark = _fingerprint(sentences, encoder, settings, prior)
    vectors = _vectors(encoder, sentences, work, mark, resume, progress)
    corpus = Corpus(sentences, vectors, prior)
    selector, reports = _train(encoder, corpus, settings, work, mark, resume, progress)

    ordinary = statistics.ordinary_words()
    seen = Observations.of(sentences, ordinary=ordinary, not_names=beliefs.not_names)
    gate = gate_scores(selector, vectors, encoder.device)
    trust = Trust.estimate(gate, seen)
    scores = trust.combine(gate, seen)
    found = (
        candidate.score
        for i, words in enumerate(sentences)
        for candidate in candidates(
            words, scores[corpus.starts[i] : corpus.starts[i + 1]], not_names=beliefs.not_names
        )
    )
    return Fitted(selector, trust, best_threshold(list(found)), ordinary, reports)


def _long_enough(settings: Settings, sentences: int) -> Settings:
    """Settings with as many epochs as it takes for the least number of steps."""
    epochs = math.ceil(_LEAST_STEPS / steps_per_epoch(sentences, settings))
    return replace(settings, epochs=max(settings.epochs, epochs))


def gate_scores(selector: Selector, vectors: NDArray[np.float16], device: torch.device) -> Scores:
    """P(open) of every word: (words,)."""
    parts = [np.zeros(0, dtype=np.float32)]
    with torch.inference_mode():
        for low in range(0, len(vectors), _ROWS):
            rows = torch.from_numpy(np.array(vectors[low : low + _ROWS]))
            gates = selector(rows.to(device, torch.float32))
            parts.append(gates.prob_open().cpu().numpy())
    return np.concatenate(parts)


def _vectors(
    encoder: Encoder,
    sentences: Sequence[Sequence[str]],
    work: Path,
    mark: str,
    resume: bool,
    progress: Progress,
) -> NDArray[np.float16]:
    """Word vectors, from the file of a stopped run where there is a whole one."""
    path, done = work / "vectors.npy", work / "vectors.done"
    if resume and done.is_file():
        if done.read_text(encoding="utf-8") != mark:
            raise InputError(f"cannot resume from {work}: it was begun with other text or settings")
        mapped: NDArray[np.float16] = np.load(path, mmap_mode="r")
        return mapped
    done.unlink(missing_ok=True)
    count = progress.stage("reading", len(sentences))
    vectors = cache_vectors(encoder, sentences, path, progress=count)
    done.write_text(mark, encoding="utf-8")
    return vectors


def _train(
    encoder: Encoder,
    corpus: Corpus,
    settings: Settings,
    work: Path,
    mark: str,
    resume: bool,
    progress: Progress,
) -> tuple[Selector, tuple[EpochReport, ...]]:
    path = work / "checkpoint.safetensors"
    state = TrainingState.new(settings, encoder.width, encoder.device)
    if resume:
        load_checkpoint(path, state, mark)
    steps = steps_per_epoch(len(corpus.sentences), settings)
    count = progress.stage("learning", settings.epochs * steps)
    count(state.epoch * steps)
    reports: list[EpochReport] = []

    def after_epoch(report: EpochReport) -> None:
        reports.append(report)
        save_checkpoint(path, state, mark)
        if report.collapsed:
            progress.note(report.collapsed)

    selector = train(
        state, encoder, corpus, settings, after_step=lambda: count(1), after_epoch=after_epoch
    )
    return selector.half().float(), tuple(reports)  # exactly as it will be saved


def _fingerprint(
    sentences: Sequence[Sequence[str]],
    encoder: Encoder,
    settings: Settings,
    prior: NDArray[np.float32],
) -> str:
    """A mark that only the same text, encoder, settings and beliefs have."""
    digest = hashlib.sha256(json.dumps([encoder.name, encoder.layer, asdict(settings)]).encode())
    digest.update(prior.tobytes())
    for words in sentences:
        digest.update("\0".join(words).encode("utf-8", "surrogatepass"))
        digest.update(b"\n")
    return digest.hexdigest()
