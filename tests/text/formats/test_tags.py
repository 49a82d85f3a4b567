"""Decoded tags equal those of seqeval."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from thresher.text.formats.tags import TAG, decode_tags, encode_tags

tags = st.sampled_from(
    ["O", *(f"{prefix}-{kind}" for prefix in "BIES" for kind in ("PER", "LOC", "x-y"))]
)


@given(st.lists(tags))
def test_spans_and_labels_are_those_of_seqeval(sequence):
    spans, labels = decode_tags(sequence)
    ours = [(label, start, end - 1) for (start, end), label in zip(spans, labels, strict=True)]
    assert ours == get_entities(sequence)


@given(st.lists(tags))
def test_bilou_is_bioes_with_other_letters(sequence):
    renamed = [tag.replace("E-", "L-").replace("S-", "U-") for tag in sequence]
    assert decode_tags(renamed) == decode_tags(sequence)


@pytest.mark.parametrize(
    ("sequence", "spans"),
    [
        (["I-PER", "I-PER", "O", "I-PER"], ((0, 2), (3, 4))),  # IO
        (["I-PER", "B-PER", "I-LOC"], ((0, 1), (1, 2), (2, 3))),  # IOB1
        (["B-PER", "I-PER", "B-PER"], ((0, 2), (2, 3))),  # IOB2
        (["B-PER", "E-PER", "S-PER", "O"], ((0, 2), (2, 3))),  # BIOES
        (["B", "I", "O", "B"], ((0, 2), (3, 4))),  # no names
        ([], ()),
    ],
)
def test_each_scheme_is_decoded(sequence, spans):
    assert decode_tags(sequence)[0] == spans


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4))))
def test_decoding_reverses_encoding(gaps_and_lengths):
    spans, at = [], 0
    for gap, length in gaps_and_lengths:
        spans.append((at + gap, at + gap + length))
        at += gap + length
    encoded = encode_tags(spans, at + 1)
    assert decode_tags(encoded) == (tuple(spans), ("ENT",) * len(spans))
    labels = tuple(f"kind {number % 3}" for number in range(len(spans)))
    encoded = encode_tags(spans, at + 1, labels=labels)
    assert decode_tags(encoded) == (tuple(spans), labels)


@pytest.mark.parametrize("word", ["", "o", "B_PER", "NNP", "-X-", "Ox", "b-per"])
def test_other_strings_are_not_tags(word):
    assert not TAG.fullmatch(word)
