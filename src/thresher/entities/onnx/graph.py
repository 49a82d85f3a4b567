"""The inputs and outputs of an exported graph."""

from collections.abc import Sequence
from dataclasses import dataclass

from thresher.encoders.token_windows import IntArray, WindowLayout
from thresher.encoders.word_tokenizers import TokenizeWords

IDS, MASK, WORD, SENTENCE = "input_ids", "attention_mask", "word_of_token", "sentence_of_word"
GATES, VECTORS, LINKS, KIND_SCORES = "gate_scores", "vectors", "links", "kind_scores"

Inputs = dict[str, IntArray]


@dataclass(frozen=True)
class GraphInputs:
    """Turns sentences into the inputs of a graph."""

    tokenize: TokenizeWords
    layout: WindowLayout

    def of_sentences(self, sentences: Sequence[Sequence[str]]) -> Inputs:
        """Return the inputs for sentences that are encoded together."""
        ids, counts = self.tokenize([word for words in sentences for word in words])
        windows = self.layout.windows(ids, counts, sentences)
        return {
            IDS: windows.ids,
            MASK: windows.mask,
            WORD: windows.word,
            SENTENCE: windows.sentence_of_word,
        }
