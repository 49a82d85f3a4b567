"""Find entities with an encoder and a trained model."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from thresher.encoders import Encoder
from thresher.encoders.int8_linear import int8_supported
from thresher.encoders.protocol import LowPrecisionEncoder
from thresher.entities.encoding_finder import EncodingFinder
from thresher.entities.finding.candidate_arrays import CandidateArrays
from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.scored_text import ScoredSentence
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.finding.text_finder import SplitText
from thresher.entities.finding.word_decoding import Links
from thresher.entities.kinds.assignment import EncodedWords
from thresher.entities.kinds.entity_sample import EntitySample, collect_sample, empty_sample
from thresher.entities.kinds.shared_evidence import Mentions
from thresher.entities.model import FinderModel
from thresher.entities.sentence_scorer import SentenceScorer
from thresher.entities.word_scorer import WordScorer
from thresher.errors import InputError
from thresher.gates.word_vectors import UnitIndex
from thresher.maths.hard_kumaraswamy import KumaraswamyGate
from thresher.text.indexed_sentences import IndexedSentences

SENTENCES_PER_GROUP = 2048  # encoded at a time where the text is a whole corpus


class ModelFinder(EncodingFinder):
    """Scores words and candidates, and assigns kinds; `EntityFinder` adds loading and training.

    encoder: turns words into vectors   model: the selectors and everything else that was trained
    """

    def __init__(self, encoder: Encoder, model: FinderModel) -> None:
        assigner = model.kinds.assigner if model.kinds else None
        kind_gates = model.kinds.gates if model.kinds else None
        finding = kind_gates.finding if kind_gates else None
        super().__init__(
            SentenceScorer(model.signal_extractor, model.word_decoder, assigner, finding),
            threshold=model.threshold,
            scripts=model.scripts,
        )
        self.encoder = encoder
        self.model = model
        self.word_scorer = WordScorer(encoder, model)

    @property
    def precision(self) -> str:
        """The dtype of the encoder's matrix products: "int8", "float16" or "float32"."""
        if isinstance(self.encoder, LowPrecisionEncoder):
            return self.encoder.precision
        return "float32"

    @property
    def lacks_int8(self) -> bool:
        """True if the model can run in int8 on a CPU, but this CPU cannot."""
        on_cpu = self.encoder.device.type == "cpu"
        return bool(self.model.ranges) and on_cpu and not int8_supported()

    def gates(self, sentences: SplitText) -> KumaraswamyGate:
        """Return the gate of every word, or of every subword if the model has a gate for each.

        `gates(…).sample(generator=…)` is a random mask.
        """
        return self.word_scorer.gates(sentences)

    def gate_scores(self, sentences: SplitText) -> Scores:
        """Return P(open) of every word, with gates per subword the largest of a word: (words,)."""
        return self.word_scorer.gate_scores(sentences)

    def encode(self, sentences: SplitText) -> EncodedWords:
        """Return vectors and gate scores of words; those of a sentence depend on no other one.

        Parts of a long text can be encoded one after the other and combined for `score_encoded`.
        """
        if self._sentence_scorer.assigner is not None:
            return self.word_scorer.encode(sentences)
        gate_scores, links = self.word_scorer.gates_and_links(sentences)
        return EncodedWords(gate_scores, np.zeros((len(gate_scores), 0), np.float32), links=links)

    def score_encoded(self, sentences: SplitText, encoded: EncodedWords) -> list[ScoredSentence]:
        """Return the scored sentences of one text, given `encode(sentences)`."""
        return self._sentence_scorer.score([sentences], encoded)

    def score_gates(
        self, sentences: SplitText, gate_scores: Scores, links: Links | None = None
    ) -> list[ScoredSentence]:
        """Return the scored sentences, without kinds, given the gates of their words.

        gate_scores: from `gate_scores`   links: log-odds of the link gate, if there is one
        """
        no_vectors = np.zeros((len(gate_scores), 0), np.float32)
        encoded = EncodedWords(gate_scores, no_vectors, links=links)
        return replace(self._sentence_scorer, assigner=None).score([sentences], encoded)

    def assign_kinds(
        self, sentences: SplitText, spans: Sequence[Sequence[Candidate]]
    ) -> list[list[Candidate]]:
        """Return spans of one text with their kinds; the spans may come from any source.

        spans: those of each sentence, in words
        """
        scorer = self._sentence_scorer
        if scorer.assigner is None:
            raise InputError("this finder has no kinds; give it some with `with_kinds`")
        indexed = IndexedSentences.from_sentences(sentences)
        found = CandidateArrays.of(indexed, spans)
        mentions = Mentions.of(indexed, found, [len(sentences)])
        encoded = self.word_scorer.encode(sentences)
        return scorer.assigner.assign(indexed, found, mentions, encoded, scorer.signals.dates)

    def entity_sample(self, sentences: SplitText) -> EntitySample:
        """Return a sample of the entities of sentences, with the vectors of their contexts."""
        samples = [empty_sample(self.encoder.width)]
        for low in range(0, len(sentences), SENTENCES_PER_GROUP):
            group = sentences[low : low + SENTENCES_PER_GROUP]
            encoded = self.word_scorer.encode(group)
            found = self.found_in(group, encoded)
            samples.append(collect_sample(group, found, encoded.vectors, UnitIndex.of_words(group)))
        return EntitySample.merged(samples)

    def found_in(self, sentences: SplitText, encoded: EncodedWords) -> list[list[Candidate]]:
        """Return the entities of each sentence of one text, given its encoded words."""
        return [each.found(self.threshold) for each in self.score_encoded(sentences, encoded)]
