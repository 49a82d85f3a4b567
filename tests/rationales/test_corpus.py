import numpy as np
import pytest
import torch

from thresher.gates.word_vectors import UnitIndex
from thresher.rationales.corpus import LabelledCorpus, endless_batches, hold_out_texts


def test_every_epoch_has_each_text_once():
    indices, lengths = [2, 3, 5, 7, 11], [9, 1, 4, 4, 2, 6, 1, 3, 1, 1, 1, 8]
    batches = endless_batches(indices, lengths, texts_per_batch=2, seed=0)
    for _ in range(3):
        assert sorted(i for _ in range(3) for i in next(batches)) == indices


@pytest.mark.parametrize(("texts", "expected"), [(2, 1), (30, 3), (10_000, 500)])
def test_some_texts_are_held_out_and_none_is_lost(texts, expected):
    learn, held_out = hold_out_texts(texts, fraction=0.1, seed=0)
    assert len(held_out) == expected
    assert sorted(learn + held_out) == list(range(texts))


def test_a_corpus_with_inconsistent_lengths_is_refused(learned):
    units = UnitIndex.of_words(learned.texts)
    vectors = np.zeros((units.words, 4), dtype=np.float16)
    with pytest.raises(ValueError, match="one label per text: 200 texts, got 3"):
        LabelledCorpus(learned.texts, vectors, units, torch.zeros(3))
    with pytest.raises(ValueError, match="one vector per unit"):
        LabelledCorpus(learned.texts, vectors[1:], units, learned.labels)
    with pytest.raises(ValueError, match="one prior probability per unit"):
        LabelledCorpus(learned.texts, vectors, units, learned.labels, np.zeros(3, np.float32))
