"""The inputs and outputs of an exported graph, and how long sentences are cut into its inputs."""

from collections.abc import Callable, Sequence

from tokenizers import Tokenizer

from thresher.encoders.subword_ids import SubwordTokenizer, flatten_ids
from thresher.encoders.token_windows import IntArray, WindowLayout
from thresher.lm.tokens.factory import tokenizer_from_json
from thresher.lm.tokens.word_pairs import WordPairTokenizer

IDS, MASK, WORD, SENTENCE = "input_ids", "attention_mask", "word_of_token", "sentence_of_word"
GATES, VECTORS, LINKS, KIND_SCORES = "gate_scores", "vectors", "links", "kind_scores"

Inputs = dict[str, IntArray]


class GraphInputs:
    """Turns sentences into the inputs of a graph.

    tokenize: from words to the ids of all tokens and the number of tokens of each word
    """

    def __init__(
        self, tokenize: Callable[[Sequence[str]], tuple[IntArray, IntArray]], layout: WindowLayout
    ) -> None:
        self._tokenize, self._layout = tokenize, layout

    @classmethod
    def of_subwords(cls, tokenizer: str, layout: WindowLayout) -> "GraphInputs":
        """Tokenize with JSON of the tokenizers library."""
        loaded = Tokenizer.from_str(tokenizer)
        loaded.no_truncation()
        loaded.no_padding()
        return cls(SubwordTokenizer(loaded).ids, layout)

    @classmethod
    def of_word_pairs(cls, tokenizer: str, layout: WindowLayout) -> "GraphInputs":
        """Tokenize with JSON of a `WordPairTokenizer`."""
        loaded = tokenizer_from_json(tokenizer)
        if not isinstance(loaded, WordPairTokenizer):
            raise ValueError(f"the tokenizer must have word pairs, not {loaded.kind}")
        return cls(lambda words: flatten_ids(loaded.encode_words(words)), layout)

    def of_sentences(self, sentences: Sequence[Sequence[str]]) -> Inputs:
        """Return the inputs for sentences that are encoded together."""
        ids, counts = self._tokenize([word for words in sentences for word in words])
        windows = self._layout.windows(ids, counts, sentences)
        return {
            IDS: windows.ids,
            MASK: windows.mask,
            WORD: windows.word,
            SENTENCE: windows.sentence_of_word,
        }
