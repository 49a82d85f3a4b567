"""The surprisal of words: −log p of a word given the words before it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from thresher.encoders.padding import group_by_length, padded_batch
from thresher.encoders.protocol import TokenBatch
from thresher.encoders.token_windows import overlapping_windows
from thresher.errors import InputError
from thresher.lm.tokens.word_pairs import WordPairTokenizer
from thresher.lm.trained_model import TrainedLanguageModel

_MAX_BATCH_TOKENS = 4096


class CausalSurprisal:
    """The surprisal of words under a causal language model, with a line end before each sentence.

    −log p(word) = −Σ log p(token | tokens before it) over the tokens of the word.
    """

    def __init__(
        self, trained: TrainedLanguageModel, *, name: str, device: str | torch.device = "cpu"
    ) -> None:
        if not trained.architecture.shape.causal:
            raise InputError(
                f"{name} is a masked language model; surprisal needs a causal one, as trained by "
                f"thresher lm train --tokens word-pairs"
            )
        if not isinstance(trained.tokenizer, WordPairTokenizer):
            raise InputError(
                f"{name} has the tokens {trained.tokenizer.kind}; the surprisal of words needs a "
                f"language model with word-pairs: thresher lm train --tokens word-pairs"
            )
        self._tokenizer = trained.tokenizer
        self._model = trained.model.to(device).eval().requires_grad_(False)

    @classmethod
    def load(cls, folder: str | Path, *, device: str | torch.device = "cpu") -> "CausalSurprisal":
        """Load a language model from a folder written by `thresher lm train`."""
        return cls(TrainedLanguageModel.read(Path(folder)), name=str(folder), device=device)

    def surprisal(self, sentences: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """Return −log p of each word given those before it, in nats: (words,).

        It is 0 for a word without tokens. A sentence longer than the context is split into
        overlapping windows, and a token is scored in the first window that contains it.
        """
        total = np.zeros(sum(map(len, sentences)), dtype=np.float32)
        windows = list(self._windows(sentences))
        lengths = np.array([len(ids) for ids, _ in windows], dtype=np.int64)
        for group in group_by_length(lengths, _MAX_BATCH_TOKENS):
            ids, word = zip(*(windows[number] for number in group), strict=True)
            batch = padded_batch(ids, word, [0] * len(ids), [], pad=self._tokenizer.line_end)
            losses, words = self._losses(batch.to(self._model.device))
            np.add.at(total, words, losses)
        return total

    def _windows(self, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[list[int], list[int]]]:
        """Yield the token ids of each window, and the word of each token that it scores, else −1.

        A window starts with a line end.
        """
        context, end = self._model.architecture.shape.context, self._tokenizer.line_end
        offset = 0
        for words in filter(None, sentences):
            ids_of_words = self._tokenizer.encode_words(words)
            tokens = [token for ids in ids_of_words for token in ids]
            word = [offset + i for i, ids in enumerate(ids_of_words) for _ in ids]
            scored = 0
            for low, high in overlapping_windows(
                len(tokens), size=context - 1, overlap=context // 4
            ):
                new = [-1] * (scored - low) + word[scored:high]
                yield [end, *tokens[low:high]], [-1, *new]
                scored = high
            offset += len(words)

    @torch.inference_mode()
    def _losses(self, batch: TokenBatch) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return −log p of the tokens to be scored, and the words they belong to."""
        hidden = self._model(batch.ids[:, :-1], mask=batch.mask[:, :-1])
        target, word = batch.ids[:, 1:], batch.word[:, 1:]
        scored = word >= 0
        log_p = self._model.output.log_prob(hidden[scored], target[scored])
        return -log_p.float().cpu().numpy(), word[scored].cpu().numpy()
