"""Training a selector on raw sentences: cached vectors, a prior, and what removal does."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from thresher.encoders.protocol import Encoder
from thresher.entities.objectives import agreement, continuity, contrast, sparsity
from thresher.entities.selector import Selector, seeded_selector
from thresher.entities.settings import COLLAPSED_ABOVE, COLLAPSED_BELOW, Settings
from thresher.entities.vectors import sentence_starts
from thresher.maths.hard_kumaraswamy import KumaraswamyGate

_WARM_UP = 50  # steps
_DUAL_STEP = 0.1  # η; with larger ones λ_s runs far off before the gates can follow it
_POOL = 16  # batches drawn at random together, then sorted by length among themselves


@dataclass(frozen=True)
class Corpus:
    """Raw sentences with what was computed of them once.

    vectors: (words, width), float16   prior: (words,), NaN for no opinion
    """

    sentences: Sequence[Sequence[str]]
    vectors: NDArray[np.float16]
    prior: NDArray[np.float32]
    starts: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", sentence_starts(self.sentences))
        if not len(self.vectors) == len(self.prior) == self.starts[-1]:
            raise ValueError(
                f"one vector and one opinion per word: {self.starts[-1]} words, "
                f"{len(self.vectors)} vectors, {len(self.prior)} opinions"
            )

    def rows(self, indices: Sequence[int]) -> NDArray[np.int64]:
        """Where the words of some sentences are among all words."""
        return np.concatenate([np.arange(self.starts[i], self.starts[i + 1]) for i in indices])


@dataclass(frozen=True)
class EpochReport:
    """What an epoch did: each term of the objective by name, and the share of words let through."""

    epoch: int
    terms: dict[str, float]
    selected: float
    sparsity_weight: float

    @property
    def collapsed(self) -> str | None:
        """One line on what went wrong, if the gates have nearly all closed or mostly opened."""
        if COLLAPSED_BELOW <= self.selected <= COLLAPSED_ABOVE:
            return None
        what = "closed nearly everywhere" if self.selected < COLLAPSED_BELOW else "open mostly"
        return (
            f"the gates have collapsed: {what} ({self.selected:.1%} of words selected); "
            "try another weight for sparsity, or a target rate"
        )


@dataclass
class TrainingState:
    """Everything that changes while training: with it, a run goes on as if never stopped."""

    selector: Selector
    optimizer: torch.optim.AdamW
    epoch: int = 0
    sparsity_weight: float = 0.0
    rate_error: float = 0.0

    @classmethod
    def new(cls, settings: Settings, width: int, device: torch.device) -> "TrainingState":
        """A state at the start, which follows from the seed alone."""
        selector = seeded_selector(
            settings.seed, width, hidden=settings.hidden, form=settings.form
        ).to(device)
        optimizer = torch.optim.AdamW(
            selector.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        return cls(selector, optimizer, sparsity_weight=settings.sparsity)


def train(
    state: TrainingState,
    encoder: Encoder,
    corpus: Corpus,
    settings: Settings,
    *,
    after_step: Callable[[], None] = lambda: None,
    after_epoch: Callable[[EpochReport], None] = lambda report: None,
) -> Selector:
    """Run the epochs that the state has not seen yet; the state is changed in place."""
    while state.epoch < settings.epochs:
        report = _run_epoch(state, encoder, corpus, settings, after_step)
        state.epoch += 1
        after_epoch(report)
    return state.selector.eval()


def steps_per_epoch(sentences: int, settings: Settings) -> int:
    """How many batches an epoch has."""
    return math.ceil(sentences / settings.sentences_per_batch)


def _run_epoch(
    state: TrainingState,
    encoder: Encoder,
    corpus: Corpus,
    settings: Settings,
    after_step: Callable[[], None],
) -> EpochReport:
    # Every epoch has random numbers of its own, so that a resumed run meets the same ones.
    order = np.random.default_rng([settings.seed, state.epoch])
    noise = Generator(encoder.device).manual_seed(settings.seed * 100_003 + state.epoch)
    steps = steps_per_epoch(len(corpus.sentences), settings)
    sums: dict[str, float] = {}
    seen: dict[str, int] = {}
    selected = 0.0
    for number, indices in enumerate(_shuffled_batches(corpus, settings, order)):
        _set_learning_rate(state, settings, state.epoch * steps + number, settings.epochs * steps)
        with_contrast = settings.contrast > 0 and order.random() < settings.contrast_share
        gates, terms = _terms(state, encoder, corpus, settings, indices, noise, with_contrast)
        loss = torch.stack([weight * term for weight, term in terms.values()]).sum()
        state.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        state.optimizer.step()
        rate = float(gates.prob_open().detach().mean())
        _adapt_sparsity(state, settings, rate)
        selected += rate
        for name, (_, term) in terms.items():
            sums[name] = sums.get(name, 0.0) + float(term.detach())
            seen[name] = seen.get(name, 0) + 1
        after_step()
    return EpochReport(
        epoch=state.epoch,
        terms={name: total / seen[name] for name, total in sums.items()},
        selected=selected / steps,
        sparsity_weight=state.sparsity_weight,
    )


def _terms(
    state: TrainingState,
    encoder: Encoder,
    corpus: Corpus,
    settings: Settings,
    indices: Sequence[int],
    noise: Generator,
    with_contrast: bool,
) -> tuple[KumaraswamyGate, dict[str, tuple[float, Tensor]]]:
    """The gates of a batch, and the terms of its objective, each with its weight."""
    rows = corpus.rows(indices)
    vectors = torch.from_numpy(corpus.vectors[rows]).to(encoder.device, torch.float32)
    prior = torch.from_numpy(corpus.prior[rows]).to(encoder.device)
    gates: KumaraswamyGate = state.selector(vectors)
    terms = {"agreement": (settings.agreement, agreement(gates, prior))}
    if with_contrast:
        batch = encoder.batch([corpus.sentences[i] for i in indices])
        z = gates.rsample(generator=noise)
        rationale, complement = contrast(
            encoder, batch, z, temperature=settings.temperature, gates_at=settings.gates_at
        )
        terms["rationale"] = (settings.contrast, rationale)
        terms["complement"] = (-settings.contrast * settings.complement, complement)
        terms["continuity"] = (settings.continuity, continuity(z, batch.sentence_of_word))
    if with_contrast or settings.target_rate is not None:
        terms["sparsity"] = (state.sparsity_weight, sparsity(gates.prob_open()))
    return gates, terms


def _shuffled_batches(
    corpus: Corpus, settings: Settings, order: np.random.Generator
) -> Iterator[list[int]]:
    """Every sentence once, in batches of like length that differ from epoch to epoch."""
    size = settings.sentences_per_batch
    shuffled = order.permutation(len(corpus.sentences))
    for low in range(0, len(shuffled), size * _POOL):
        pool = sorted(shuffled[low : low + size * _POOL], key=lambda i: len(corpus.sentences[i]))
        batches = [pool[i : i + size] for i in range(0, len(pool), size)]
        yield from (batches[i] for i in order.permutation(len(batches)))


def _set_learning_rate(state: TrainingState, settings: Settings, step: int, steps: int) -> None:
    """Up over the first steps, then down to nothing in a straight line."""
    factor = min(1.0, (step + 1) / _WARM_UP) * (1 - step / steps)
    for group in state.optimizer.param_groups:
        group["lr"] = settings.learning_rate * factor


def _adapt_sparsity(state: TrainingState, settings: Settings, rate: float) -> None:
    """λ_s ← λ_s · exp(η c), c the smoothed distance of the rate above its target."""
    if settings.target_rate is None:
        return
    state.rate_error = 0.9 * state.rate_error + 0.1 * (rate - settings.target_rate)
    weight = state.sparsity_weight * math.exp(_DUAL_STEP * state.rate_error)
    state.sparsity_weight = min(max(weight, 1e-4), 1e3)
