"""Tags on words to spans of words, and back.

One reading serves IO, IOB1, IOB2, BIOES and BILOU alike, that of the CoNLL scorer and of seqeval:
a span goes on while the tag says "inside" (I, or its end E/L) and the kind stays the same.
"""

import re
from collections.abc import Sequence

LABEL = "ENT"  # what every entity is called, since no kinds are known

TAG = re.compile(r"O|[BIESLU](?:-(?P<label>.*))?", re.DOTALL)

_BEGINS = frozenset("BSU")  # a span starts here whatever came before
_ENDS = frozenset("ESLU")  # and none goes on after these
_OUTSIDE = "O"


def decode_tags(tags: Sequence[str]) -> tuple[tuple[tuple[int, int], ...], tuple[str, ...]]:
    """The spans (start, end) of a sentence's tags, and their labels."""
    spans: list[tuple[int, int]] = []
    labels: list[str] = []
    previous = _OUTSIDE
    for place, tag in enumerate(tags):
        if tag != _OUTSIDE:
            if _continues(previous, tag):
                spans[-1] = spans[-1][0], place + 1
            else:
                spans.append((place, place + 1))
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


def encode_tags(spans: Sequence[tuple[int, int]], length: int, *, label: str) -> list[str]:
    """IOB2 tags of a sentence of `length` words."""
    tags = [_OUTSIDE] * length
    for start, end in spans:
        tags[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
    return tags
