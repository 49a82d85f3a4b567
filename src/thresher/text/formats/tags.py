"""Convert tags of words to spans of words, and back.

IO, IOB1, IOB2, BIOES and BILOU tags are decoded by the same rule as in the CoNLL scorer and in
seqeval: a span continues while the tag is "inside" (I, E or L) and its label stays the same.
"""

import re
from collections.abc import Sequence

ENTITY_LABEL = "ENT"  # label of an entity whose kind is not known

TAG = re.compile(r"O|[BIESLU](?:-(?P<label>.*))?", re.DOTALL)

_BEGINS = frozenset("BSU")  # a span always starts here
_ENDS = frozenset("ESLU")  # a span always ends here
_OUTSIDE = "O"


def decode_tags(tags: Sequence[str]) -> tuple[tuple[tuple[int, int], ...], tuple[str, ...]]:
    """Return the spans (start, end) of a sentence's tags, and their labels."""
    spans: list[tuple[int, int]] = []
    labels: list[str] = []
    previous = _OUTSIDE
    for index, tag in enumerate(tags):
        if tag != _OUTSIDE:
            if _continues(previous, tag):
                spans[-1] = spans[-1][0], index + 1
            else:
                spans.append((index, index + 1))
                labels.append(tag[2:])
        previous = tag
    return tuple(spans), tuple(labels)


def _continues(previous: str, tag: str) -> bool:
    return (
        previous != _OUTSIDE
        and previous[0] not in _ENDS
        and tag[0] not in _BEGINS
        and previous[2:] == tag[2:]
    )


def encode_tags(
    spans: Sequence[tuple[int, int]], length: int, *, labels: Sequence[str] | None = None
) -> list[str]:
    """Return the IOB2 tags of a sentence of `length` words.

    labels: one for each span; by default all are `ENTITY_LABEL`
    """
    tags = [_OUTSIDE] * length
    labels = [ENTITY_LABEL] * len(spans) if labels is None else labels
    for (start, end), label in zip(spans, labels, strict=True):
        tags[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
    return tags
