"""From encoded words to scored sentences: everything that follows the encoder and the gates."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from thresher.entities.finding.abbreviations import with_long_forms
from thresher.entities.finding.candidate_arrays import CandidateArrays
from thresher.entities.finding.date_expressions import DateExpressions
from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.entity_rate import gates_at_text_rates
from thresher.entities.finding.scored_text import ScoredSentence
from thresher.entities.finding.signals import SignalExtractor
from thresher.entities.finding.supported_scores import with_listed_names, with_repeated_mentions
from thresher.entities.finding.text_finder import SplitText
from thresher.entities.finding.word_decoding import WordDecoder
from thresher.entities.kinds.assignment import EncodedWords, KindAssigner, finding_scores
from thresher.entities.kinds.shared_evidence import Mentions
from thresher.text.indexed_sentences import IndexedSentences

DATE_SCORE = 0.7  # of all date expressions; about the precision of names with this score


@dataclass(frozen=True)
class SentenceScorer:
    """Combines gates with the other signals, decodes candidate spans, and gives them kinds.

    It needs no torch, so a model whose encoder runs elsewhere finds the same spans.

    assigner: None for a model without kinds
    finding: for each kind whether its gate finds entities; None if all kind gates do
    """

    signals: SignalExtractor
    decoder: WordDecoder
    assigner: KindAssigner | None = None
    finding: tuple[bool, ...] | None = None

    def score(
        self,
        texts: Sequence[SplitText],
        encoded: EncodedWords,
        indexed: IndexedSentences | None = None,
    ) -> list[ScoredSentence]:
        """Return the scored sentences of all texts, one text after the other.

        indexed: the sentences of all texts, if they are indexed already
        """
        sentences = list(chain.from_iterable(texts))
        if not sentences:
            return []
        indexed = indexed or IndexedSentences.from_sentences(sentences)
        signals = self.signals.extract_texts(texts, indexed)
        words_per_text = [sum(map(len, text)) for text in texts]
        gate_scores = gates_at_text_rates(
            encoded.gate_scores, self.decoder.weights, signals, words_per_text
        )
        kind_scores = encoded.kind_scores
        least = None if kind_scores is None else finding_scores(kind_scores, self.finding)
        scores = self.decoder.word_scores(gate_scores, signals, least)
        found = self.decoder.candidate_arrays(indexed, gate_scores, signals, encoded.links, least)
        found_in = self._with_support_and_kinds(indexed, found, encoded, list(map(len, texts)))
        if self.signals.date_expressions is not None and signals.in_date is not None:
            found_in = _with_dates(sentences, found_in, self.signals.date_expressions)
            scores = np.where(signals.in_date, np.float32(DATE_SCORE), scores)
        bounds = pairwise(indexed.starts.tolist())
        return [
            ScoredSentence(words, scores[start:end], candidates)
            for words, (start, end), candidates in zip(sentences, bounds, found_in, strict=True)
        ]

    def _with_support_and_kinds(
        self,
        sentences: IndexedSentences,
        found: CandidateArrays,
        encoded: EncodedWords,
        text_lengths: Sequence[int],
    ) -> list[list[Candidate]]:
        """Return the candidates with scores that other words of their text support, and kinds.

        text_lengths: the number of sentences of each text
        """
        with_spans = self.decoder.span_model is not None
        if with_spans:
            found = with_long_forms(sentences, with_listed_names(sentences, found))
        mentions = Mentions.of(sentences, found, text_lengths)
        if with_spans:
            found = with_repeated_mentions(found, mentions.names)
        if self.assigner is None:
            return found.by_sentence(sentences)
        return self.assigner.assign(sentences, found, mentions, encoded, self.signals.dates)


def _with_dates(
    sentences: Sequence[Sequence[str]],
    found: Sequence[Sequence[Candidate]],
    dates: DateExpressions,
) -> list[list[Candidate]]:
    """Return the candidates of each sentence and the dates in it, which have no kind."""
    return [
        sorted([*names, *(Candidate(*each, DATE_SCORE) for each in dates.find(words))])
        for names, words in zip(found, sentences, strict=True)
    ]
