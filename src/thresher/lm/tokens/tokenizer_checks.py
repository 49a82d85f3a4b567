"""Check that a tokenizer fits the embeddings of a model."""

from tokenizers import Tokenizer

from thresher.errors import InputError


def require_ids_below(rows: int, tokenizer: Tokenizer) -> None:
    """Raise InputError if a token has an id for which there is no row of embeddings."""
    largest = max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)
    if not 0 <= largest < rows:
        raise InputError(
            f"the tokenizer has token ids up to {largest}, but the model has {rows} vectors"
        )
