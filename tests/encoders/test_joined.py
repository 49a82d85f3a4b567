import pytest
import torch

from thresher.encoders import load_encoder
from thresher.encoders.joined import JoinedEncoder
from thresher.encoders.protocol import word_vectors
from thresher.entities.finder import EntityFinder
from thresher.entities.training.settings import EntitySettings
from thresher.errors import InputError

SENTENCES = [["Marie", "Curie", "left", "Paris", "."], ["left", "."]]


@pytest.fixture
def parts(tiny_folder, tiny):
    return [load_encoder(str(tiny_folder), device="cpu"), tiny]


def test_word_vectors_are_those_of_the_parts_side_by_side(parts):
    joined = JoinedEncoder(parts)
    separate = [
        word_vectors(each.encode(each.batch(SENTENCES)), each.batch(SENTENCES)) for each in parts
    ]
    together = joined.encode_by_word(joined.batch(SENTENCES))
    torch.testing.assert_close(together, torch.cat(separate, dim=1))
    assert together.shape == (7, joined.width) == (7, 16)


def test_words_are_common_only_if_every_part_knows_them(parts):
    joined = JoinedEncoder(parts)
    assert joined.common_words == parts[0].common_words & parts[1].common_words


def test_several_names_are_loaded_as_one_encoder(tiny_folder):
    name = f"{tiny_folder}+{tiny_folder}"
    joined = load_encoder(name, device="cpu")
    assert (joined.name, joined.width, joined.layer) == (name, 16, 0)
    with pytest.raises(InputError, match="`layer` needs a single encoder"):
        load_encoder(name, layer=1, device="cpu")


def test_a_finder_with_two_encoders_is_trained_saved_and_loaded(tiny_folder, tmp_path):
    text = [["the", "mayor", "of", f"Town{i}", "met", f"Mister{i}", "."] for i in range(40)]
    finder = EntityFinder.fit_words(
        text, encoder=f"{tiny_folder}+{tiny_folder}", settings=EntitySettings(epochs=1)
    )
    finder.save(tmp_path / "model")
    loaded = EntityFinder.load(tmp_path / "model", device="cpu")
    expected, scored = (each.score_sentences(SENTENCES) for each in (finder, loaded))
    for before, after in zip(expected, scored, strict=True):
        assert before.scores == pytest.approx(after.scores, abs=1e-3)


def test_one_encoder_is_not_joined(tiny):
    with pytest.raises(ValueError, match="at least two"):
        JoinedEncoder([tiny])
