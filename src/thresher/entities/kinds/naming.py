"""Name groups of entities by the category noun that is nearest to their typical names.

The nouns are listed in `category_nouns.txt`. Names and nouns are encoded without context with the
last layer of the encoder, whose mean vectors represent what a text is about. An encoder whose
vocabulary lacks most of these English nouns cannot compare them; a group is then named after its
most typical name.
"""

import re
from collections.abc import Sequence
from importlib.resources import files

import numpy as np
import torch

from thresher.encoders.protocol import Encoder, sentence_vectors
from thresher.entities.kinds.span_vectors import Vectors, unit_length
from thresher.text.word_joining import join_words

_MIN_KNOWN = 0.5  # the fraction of nouns that must be in the vocabulary of the encoder


def name_groups(encoder: Encoder, groups: Sequence[Sequence[Sequence[str]]]) -> list[str]:
    """Return a different name for each group.

    groups: the typical names of each group, split into words, the most typical first
    """
    nouns = category_nouns()
    known = sum(noun in encoder.common_words for noun in nouns)
    if known < _MIN_KNOWN * len(nouns):
        return _distinct([name_like(group[0]) for group in groups])
    noun_vectors = _encode(encoder, [[noun] for noun in nouns])
    means = unit_length(np.stack([_encode(encoder, group).mean(axis=0) for group in groups]))
    similarity = means @ noun_vectors.T
    # A noun that is near to every group says nothing about one of them.
    distinctive = similarity - 0.5 * similarity.mean(axis=0)
    names = [""] * len(groups)  # there are more nouns than groups
    for flat in np.argsort(-distinctive, axis=None, kind="stable").tolist():
        group, noun = divmod(flat, len(nouns))
        if not names[group] and nouns[noun] not in names:
            names[group] = nouns[noun]
    return _distinct(
        [name or name_like(group[0]) for name, group in zip(names, groups, strict=True)]
    )


def category_nouns() -> list[str]:
    """Return the nouns that can be names of groups."""
    content = files("thresher.entities.kinds") / "category_nouns.txt"
    return content.read_text(encoding="utf-8").split()


def _encode(encoder: Encoder, names: Sequence[Sequence[str]]) -> Vectors:
    with torch.inference_mode():
        batch = encoder.batch(names)
        vectors = sentence_vectors(encoder.encode_gated(batch), batch)
    return unit_length(vectors.float().cpu().numpy())


def name_like(words: Sequence[str]) -> str:
    """Return a name for a group of entities like this one, which kinds can have."""
    joined = "".join(each for each in join_words(words) if each.isprintable() or each.isspace())
    return "like-" + re.sub(r"[\s,]+", "-", joined)


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names; the second and further groups of the same name get a number."""
    result: list[str] = []
    for name in names:
        number = sum(other == name for other in names[: len(result)])
        result.append(f"{name}-{number + 1}" if number else name)
    return result
