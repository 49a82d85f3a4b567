"""Fit the span model to raw text by maximum likelihood.

The case of words is hidden from the model and predicted: where the writer was free to choose it, a
capital is inside a name, that of the capital directly before it, and a lower-case word is outside,
apart from joining words. The likelihood of a sentence is the weight of the chains that agree with
the case of its words divided by the weight of all chains; words whose case is uninformative agree
with both.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thresher.entities.finding.evidence import chain_inputs
from thresher.entities.finding.signal_weights import Scores, SignalWeights
from thresher.entities.finding.signals import WordSignals
from thresher.entities.finding.span_model import ChainInputs, SpanModel
from thresher.entities.priors.casing import Casing
from thresher.entities.training.link_training import JOINING
from thresher.entities.training.raw_text import RawText
from thresher.gates.batching import sentence_starts
from thresher.text.indexed_sentences import IndexedSentences

_SENTENCES = 1500  # are enough for five parameters
_MIN_WORDS, _MAX_WORDS = 4, 60  # of a sentence
_BLOCK = 50  # neighbouring sentences, whose words may be repeated
_STEPS, _LEARNING_RATE = 80, 0.1
_MIN_SCALE = 0.001
_MAX_EVIDENCE = 8.0  # of a word, so that a few certain words do not decide
_MIN_LOG_LIKELIHOOD = -25.0  # of a sentence: some capitals are no names at all
_OUTSIDE = -30.0  # the evidence of a word that cannot be in a name


def fit_span_model(
    raw: RawText, gate_scores: Scores, links: NDArray[np.float32] | None
) -> SpanModel:
    """Return the span model that predicts the capitals of raw text best.

    gate_scores: (words,), P(open)   links: (words,), of the link gate, if there is one
    """
    sample = _Sample.draw(raw, gate_scores, links)
    initial = SpanModel()
    start = math.log(initial.start / (1 - initial.start))
    values = [initial.scale, initial.bias, start, initial.continuation, initial.link]
    parameters = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([parameters], lr=_LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=_STEPS)
    for _ in range(_STEPS):
        optimizer.zero_grad()
        (-sample.log_likelihood(parameters)).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
    scale, bias, start, continuation, link = parameters.detach().tolist()
    scale = max(scale, _MIN_SCALE)  # evidence for a name never counts against it
    return SpanModel(scale, bias, 1 / (1 + math.exp(-start)), continuation, link)


@dataclass(frozen=True)
class _Sample:
    """Sentences as rows, with one column per word.

    agrees_outside, agrees_inside, agrees_start: whether the case of a word agrees with being
        outside of a name, inside, and the first word of one
    """

    log_odds: Tensor
    links: Tensor
    can_start: Tensor
    can_end: Tensor
    agrees_outside: Tensor
    agrees_inside: Tensor
    agrees_start: Tensor
    is_word: Tensor

    @classmethod
    def draw(
        cls, raw: RawText, gate_scores: Scores, links: NDArray[np.float32] | None
    ) -> "_Sample":
        starts = sentence_starts(raw.sentences)
        lengths = np.diff(starts)
        fits = (lengths >= _MIN_WORDS) & (lengths <= _MAX_WORDS)
        step = max(1, int(fits.sum()) // _SENTENCES)
        chosen = np.flatnonzero(fits & (np.arange(len(fits)) // _BLOCK % step == 0))
        sentences = IndexedSentences.from_sentences([raw.sentences[i] for i in chosen.tolist()])
        rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in chosen])
        signals = raw.signals.rows(rows)
        case_hidden = signals.without_case()
        inputs = chain_inputs(
            sentences,
            SignalWeights().log_odds(gate_scores[rows], case_hidden).astype(np.float64),
            None if links is None else links[rows],
            case_hidden,
            raw.not_names,
        )
        return cls._padded(sentences, inputs, *_agreement(sentences, signals))

    @classmethod
    def _padded(
        cls,
        sentences: IndexedSentences,
        inputs: ChainInputs,
        agrees_outside: NDArray[np.bool_],
        agrees_inside: NDArray[np.bool_],
        agrees_start: NDArray[np.bool_],
    ) -> "_Sample":
        lengths = np.diff(sentences.starts)
        is_word = np.arange(lengths.max()) < lengths[:, None]

        def padded(values: NDArray[np.generic]) -> Tensor:
            table = np.zeros(is_word.shape, dtype=np.float64)
            table[is_word] = values
            return torch.from_numpy(table)

        return cls(
            padded(np.maximum(inputs.log_odds, _OUTSIDE)),
            padded(np.clip(inputs.links, -6, 6)),
            padded(inputs.can_start),
            padded(inputs.can_end),
            padded(agrees_outside),
            padded(agrees_inside),
            padded(agrees_start & inputs.can_start),
            torch.from_numpy(is_word),
        )

    def log_likelihood(self, parameters: Tensor) -> Tensor:
        """Return the mean log-likelihood of a word."""
        every = torch.ones_like(self.agrees_inside)
        agreeing = self._log_weight(
            parameters, self.agrees_outside, self.agrees_inside, self.agrees_start
        )
        of_sentences = agreeing - self._log_weight(parameters, every, every, self.can_start)
        return of_sentences.clamp(min=_MIN_LOG_LIKELIHOOD).sum() / self.is_word.sum()

    def _log_weight(
        self, parameters: Tensor, outside: Tensor, inside: Tensor, can_start: Tensor
    ) -> Tensor:
        """Return the log of the weight of all chains that agree: (sentences,)."""
        scale, bias, start_log_odds, continuation, link = parameters
        start = torch.sigmoid(start_log_odds)
        odds = torch.exp((scale * self.log_odds + bias).clamp(max=_MAX_EVIDENCE)) * inside
        go_on = torch.sigmoid(continuation + link * self.links)
        go_on = torch.where(self.can_end > 0, go_on, torch.ones_like(go_on))
        total = torch.zeros(len(odds), dtype=torch.float64)
        out, within = torch.ones_like(total), torch.zeros_like(total)
        before = torch.zeros_like(total)  # P(the name at the previous word continues)
        for i in range(odds.shape[1]):
            free = out + within * (1 - before)
            new_within = (free * start * can_start[:, i] + within * before) * odds[:, i]
            new_out = free * (1 - start) * outside[:, i]
            here = self.is_word[:, i]
            weight = (new_out + new_within).clamp(min=1e-30)
            total = total + torch.where(here, weight.log(), torch.zeros_like(total))
            out = torch.where(here, new_out / weight, out)
            within = torch.where(here, new_within / weight, within)
            before = go_on[:, i]
        return total


def _agreement(
    sentences: IndexedSentences, signals: WordSignals
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether the case of each word agrees with being outside, inside and at the start."""
    folded = sentences.replace_words(str.casefold)
    joining = folded.map_words(JOINING.__contains__, np.bool_)
    is_name = (signals.casing == Casing.CAPITAL) & signals.possible
    is_other = (signals.casing == Casing.LOWER) & ~joining
    follows_name = np.append(False, is_name[:-1])
    follows_name[sentences.starts[:-1]] = False
    return ~is_name, ~is_other, ~(is_name & follows_name)
