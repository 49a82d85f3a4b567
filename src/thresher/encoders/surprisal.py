"""How much a word surprises a language model: what its context did not tell of it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from thresher.encoders.overlapping_windows import windows
from thresher.encoders.padding import group_by_length, padded_batch
from thresher.encoders.protocol import TokenBatch
from thresher.errors import InputError
from thresher.lm.tokens.factory import WordPairs
from thresher.lm.trained_model import TrainedLanguageModel

_TOKENS_AT_ONCE = 4096


class SurprisalModel(Protocol):
    """Knows what is to be expected in a text."""

    def surprisal(self, sentences: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """−log p(word | the words before it in its sentence), nats: (words,)."""
        ...


class CausalSurprisal:
    """A language model that reads from left to right, a line end before each sentence.

    −log p(word) = −Σ log p(token | tokens before it) over the tokens of the word.
    """

    def __init__(
        self, learned: TrainedLanguageModel, *, name: str, device: str | torch.device = "cpu"
    ) -> None:
        if not learned.architecture.shape.causal:
            raise InputError(
                f"{name} fills gaps: it cannot tell how a word follows from those before it; "
                f"thresher lm train --tokens {WordPairs.kind} makes a model that can"
            )
        if not isinstance(learned.tokens, WordPairs):
            raise InputError(
                f"{name} reads {learned.tokens.kind}; the surprisal of words needs a language "
                f"model of {WordPairs.kind}: thresher lm train --tokens {WordPairs.kind}"
            )
        self._tokens = learned.tokens
        self._model = learned.model.to(device).eval().requires_grad_(False)

    @classmethod
    def load(cls, folder: str | Path, *, device: str | torch.device = "cpu") -> "CausalSurprisal":
        """The reader in a folder that `thresher lm train --tokens word-pairs` made."""
        return cls(TrainedLanguageModel.read(Path(folder)), name=str(folder), device=device)

    def surprisal(self, sentences: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """−log p of each word given those before it, nats; 0 for a word without tokens: (words,).

        A sentence longer than the context is read in pieces, each word in the first that has it.
        """
        found = np.zeros(sum(map(len, sentences)), dtype=np.float32)
        rows = list(self._windows(sentences))
        lengths = np.array([len(ids) for ids, _ in rows], dtype=np.int64)
        for together in group_by_length(lengths, _TOKENS_AT_ONCE):
            ids, word = zip(*(rows[row] for row in together), strict=True)
            batch = padded_batch(ids, word, [0] * len(ids), [], pad=self._tokens.line_end)
            losses, owners = self._losses(batch.to(self._model.device))
            np.add.at(found, owners, losses)
        return found

    def _windows(self, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[list[int], list[int]]]:
        """Ids with a line end first, and the word each is to be counted for, −1 for none."""
        context, end = self._model.architecture.shape.context, self._tokens.line_end
        offset = 0
        for words in filter(None, sentences):
            pieces = self._tokens.encode_words(words)
            tokens = [token for piece in pieces for token in piece]
            owner = [offset + i for i, piece in enumerate(pieces) for _ in piece]
            counted = 0
            for low, high in windows(len(tokens), size=context - 1, overlap=context // 4):
                new = [-1] * (counted - low) + owner[counted:high]
                yield [end, *tokens[low:high]], [-1, *new]
                counted = high
            offset += len(words)

    @torch.inference_mode()
    def _losses(self, batch: TokenBatch) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """−log p of the tokens that count, and the words they belong to."""
        hidden = self._model(batch.ids[:, :-1], mask=batch.mask[:, :-1])
        target, owner = batch.ids[:, 1:], batch.word[:, 1:]
        counts = owner >= 0
        log_p = self._model.output.log_prob(hidden[counts], target[counts])
        return -log_p.float().cpu().numpy(), owner[counts].cpu().numpy()
