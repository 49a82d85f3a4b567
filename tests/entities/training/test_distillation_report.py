import pytest

from thresher.entities.training.distillation_report import hold_out


@pytest.mark.parametrize(("count", "held_out"), [(19, 0), (20, 1), (300, 15), (12_000, 500)])
def test_every_twentieth_sentence_up_to_500_is_held_out(count, held_out):
    sentences = [[str(i)] for i in range(1, count + 1)]
    training, measured = hold_out(sentences)
    assert measured == [[str(20 * i)] for i in range(1, held_out + 1)]
    assert sorted([*training, *measured]) == sorted(sentences)
