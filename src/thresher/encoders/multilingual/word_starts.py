"""Tokenize words as they appear in running text: with or without a space before them.

SentencePiece marks a space before a token, "▁Paris". In the text that it was trained on, words of
scripts without spaces and closing punctuation follow the word before them without such a mark.
"""

from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers

_SPACE = "▁"
_UNSPACED = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー。、，！？：；）」』】》…"
)
_CLOSING = r",.!?:;)\]}'’”%"


def mark_spaces_only(tokenizer: Tokenizer) -> None:
    """Change a tokenizer so that it marks only words that usually follow a space."""
    unmarked = normalizers.Replace(Regex(f"^{_SPACE}(?=[{_UNSPACED}{_CLOSING}])"), "")
    tokenizer.normalizer = normalizers.Sequence(
        [tokenizer.normalizer, normalizers.Prepend(_SPACE), unmarked]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
