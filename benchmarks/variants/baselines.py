"""Simple rules with the interface of a finder, to compare finders with.

    Baseline(capital_scores).find(text)
    Baseline(leave_one_out_scores(encoder, gates_at="input")).at_rate(sentences, 0.1).find(text)

A rule scores words between 0 and 1; runs of words that score at least the threshold are found.
Words without letters score 0.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from thresher.encoders.activation_checkpointing import encode_checkpointed
from thresher.encoders.attention import AttentionEncoder
from thresher.encoders.protocol import Encoder, TokenBatch, sentence_vectors, word_vectors
from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.scored_text import ScoredSentence
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.finding.text_finder import SplitText, TextFinder
from thresher.entities.priors.casing import has_letters, is_address, is_capitalised
from thresher.entities.priors.word_statistics import WordStatistics
from thresher.errors import InputError
from thresher.gates.batching import batches_by_length
from thresher.gates.choices import GatePosition
from thresher.validation import require_choice, require_number

Scorer = Callable[[SplitText], list[Scores]]
_WORDS_PER_BATCH = 512


class Baseline(TextFinder):
    """A finder that scores words with one rule.

    score: returns the scores of the words of each sentence, (words,)
    """

    def __init__(self, score: Scorer, *, threshold: float = 0.5) -> None:
        require_number("threshold", threshold, at_least=0, at_most=1)
        self.score = score
        self._threshold = threshold

    @property
    def threshold(self) -> float:
        """The smallest score of a selected word."""
        return self._threshold

    def at_rate(self, sentences: SplitText, rate: float) -> "Baseline":
        """Return this rule with the threshold that selects this fraction of the words."""
        require_number("rate", rate, above=0, below=1)
        scores = np.concatenate([np.zeros(0, dtype=np.float32), *self._scores(sentences)])
        if not len(scores):
            raise InputError("a threshold at a rate needs raw text, but there are no words")
        return Baseline(self.score, threshold=float(np.quantile(scores, 1 - rate)))

    def _score(self, texts: Sequence[SplitText]) -> list[ScoredSentence]:
        return [
            ScoredSentence(words, scores, self._runs(scores))
            for sentences in texts
            for words, scores in zip(sentences, self._scores(sentences), strict=True)
        ]

    def _scores(self, document: SplitText) -> list[Scores]:
        letters = [np.array([has_letters(word) for word in words], bool) for words in document]
        return [
            np.where(own, row, 0).astype(np.float32)
            for own, row in zip(letters, self.score(document), strict=True)
        ]

    def _runs(self, scores: Scores) -> list[Candidate]:
        selected = np.array([False, *((scores >= self._threshold) & (scores > 0)), False], np.int8)
        edges = np.flatnonzero(np.diff(selected)).tolist()
        return [
            Candidate(start, end, float(scores[start:end].max()))
            for start, end in zip(edges[::2], edges[1::2], strict=True)
        ]


def capital_scores(document: SplitText) -> list[Scores]:
    """Return 1 for capitalised words, except a first word whose successor has no capital."""
    return [_capital_scores(words) for words in document]


def rarity_scores(sentences: SplitText) -> Scorer:
    """Score words by inverse document frequency: log((N + 1)/(n + 1)) / log(N + 1).

    N is the number of passages of 20 sentences of the raw text, n of those with the word.
    """
    statistics = WordStatistics.from_sentences(sentences)
    if not statistics.total_passages:
        raise InputError("inverse document frequency needs raw text, but there are no sentences")
    max_log = math.log(statistics.total_passages + 1)

    def score(document: SplitText) -> list[Scores]:
        return [
            np.array(
                [
                    1 - math.log(statistics.passages[word.casefold()] + 1) / max_log
                    for word in words
                ],
                dtype=np.float32,
            )
            for words in document
        ]

    return score


def leave_one_out_scores(encoder: Encoder, *, gates_at: str = "input") -> Scorer:
    """Score words by the change of the sentence vector without the word: (1 − cos) / 2.

    gates_at: "pool" leaves the word's vectors out of the mean; "input" masks the word and encodes
        the sentence again
    """
    require_choice("gates_at", gates_at, GatePosition)
    change = _change_at_input if gates_at == "input" else _change_at_pool
    return _by_batch(encoder, lambda batch: change(encoder, batch))


def attention_scores(encoder: Encoder, *, layer: int | None = None) -> Scorer:
    """Score words by x / (1 + x), with x the attention a word receives from other words."""
    if not isinstance(encoder, AttentionEncoder):
        raise InputError(f"the encoder {encoder.name} gives no attention weights")
    attending: AttentionEncoder = encoder

    def received(batch: TokenBatch) -> Tensor:
        incoming = word_vectors(attending.attention(batch, layer=layer), batch)[:, 0]
        return incoming / (1 + incoming)

    return _by_batch(encoder, received)


def _capital_scores(words: Sequence[str]) -> Scores:
    capital = [is_capitalised(word) and not is_address(word) for word in words]
    if capital and capital[0] and not any(capital[1:2]):
        capital[0] = False
    return np.array(capital, dtype=np.float32)


def _by_batch(encoder: Encoder, score: Callable[[TokenBatch], Tensor]) -> Scorer:
    """Score sentences of similar length in batches, on the encoder's device."""

    def scores(document: SplitText) -> list[Scores]:
        rows: list[Scores] = [np.zeros(0, dtype=np.float32)] * len(document)
        for indices in batches_by_length(document, words_per_batch=_WORDS_PER_BATCH):
            with torch.inference_mode():
                values = score(encoder.batch([document[i] for i in indices])).cpu().numpy()
            ends = np.cumsum([len(document[i]) for i in indices])
            for i, row in zip(indices, np.split(values, ends[:-1]), strict=True):
                rows[i] = row
        return rows

    return scores


def _change_at_pool(encoder: Encoder, batch: TokenBatch) -> Tensor:
    """Compare with the mean of the other tokens, (Σ h − Σ_word h) / (n − n_word): (words,)."""
    hidden = encode_checkpointed(encoder, batch)
    inside = batch.word >= 0
    sentence = batch.sentence_of_word
    tokens = torch.bincount(batch.word[inside], minlength=batch.words)[:, None]
    in_mask = batch.sentence[:, None].expand_as(batch.mask)[batch.mask.bool()]
    lengths = torch.bincount(in_mask, minlength=batch.sentences)[:, None]
    whole = sentence_vectors(hidden, batch)
    rest = (whole * lengths)[sentence] - word_vectors(hidden, batch) * tokens
    return _angle_change(whole[sentence], rest / (lengths[sentence] - tokens).clamp(min=1))


def _change_at_input(encoder: Encoder, batch: TokenBatch) -> Tensor:
    """Compare with the sentence encoded with the word masked, once for each word: (words,)."""
    whole = sentence_vectors(encode_checkpointed(encoder, batch), batch)
    copies = _without_each_word(batch)
    masked = encode_checkpointed(encoder, copies, torch.tensor([0.0, 1.0], device=whole.device))
    return _angle_change(whole[batch.sentence_of_word], sentence_vectors(masked, copies))


def _without_each_word(batch: TokenBatch) -> TokenBatch:
    """Return a copy of its sentence for each word, in which it is word 0 and all others word 1."""
    word, window = torch.nonzero(
        batch.sentence_of_word[:, None] == batch.sentence[None, :], as_tuple=True
    )
    inside = batch.word[window] >= 0
    other = (batch.word[window] != word[:, None]).long()
    return TokenBatch(
        ids=batch.ids[window],
        mask=batch.mask[window],
        word=torch.where(inside, other, -1),
        sentence=word,
        sentence_of_word=torch.zeros(2, dtype=torch.long, device=word.device),
        sentences=batch.words,
    )


def _angle_change(whole: Tensor, rest: Tensor) -> Tensor:
    return ((1 - functional.cosine_similarity(whole, rest, dim=-1)) / 2).clamp(0, 1)
