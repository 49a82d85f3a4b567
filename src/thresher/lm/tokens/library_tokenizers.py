"""Tokenizers of the tokenizers library: read from JSON, and checked against embeddings."""

from tokenizers import Tokenizer

from thresher.errors import InputError


def read_library_tokenizer(content: str) -> Tokenizer:
    """Read a tokenizer from its JSON, without truncation and padding."""
    tokenizer = Tokenizer.from_str(content)
    tokenizer.no_truncation()
    tokenizer.no_padding()  # a saved length of padding could be arbitrarily large
    return tokenizer


def require_ids_below(rows: int, tokenizer: Tokenizer) -> None:
    """Raise InputError if a token has an id for which there is no row of embeddings."""
    largest = max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)
    if not 0 <= largest < rows:
        raise InputError(
            f"the tokenizer has token ids up to {largest}, but the model has {rows} vectors"
        )
