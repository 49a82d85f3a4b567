"""From encoded words to scored sentences: everything that follows the encoder and the gates."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from thresher.entities.finding.scored_text import ScoredSentence
from thresher.entities.finding.signals import SignalExtractor
from thresher.entities.finding.text_finder import SplitText
from thresher.entities.finding.word_decoding import WordDecoder
from thresher.entities.kinds.assignment import EncodedWords, KindAssigner, finding_scores
from thresher.gates.batching import sentence_starts


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

    def score(self, texts: Sequence[SplitText], encoded: EncodedWords) -> list[ScoredSentence]:
        """Return the scored sentences of all texts, one text after the other."""
        sentences = list(chain.from_iterable(texts))
        if not sentences:
            return []
        signals = self.signals.extract_texts(texts)
        kind_scores, gate_scores = encoded.kind_scores, encoded.gate_scores
        least = None if kind_scores is None else finding_scores(kind_scores, self.finding)
        scores = self.decoder.word_scores(gate_scores, signals, least)
        bounds = pairwise(sentence_starts(sentences).tolist())
        decoded = self.decoder.candidates(sentences, gate_scores, signals, encoded.links, least)
        scored = [
            ScoredSentence(words, scores[start:end], candidates)
            for words, (start, end), candidates in zip(sentences, bounds, decoded, strict=True)
        ]
        if self.assigner is None:
            return scored
        with_kinds = self.assigner.assign(texts, [each.candidates for each in scored], encoded)
        return [
            ScoredSentence(each.words, each.scores, own)
            for each, own in zip(scored, with_kinds, strict=True)
        ]
