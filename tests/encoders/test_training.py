"""Training an encoder on raw sentences."""

import pytest
import torch

from thresher.encoders import training
from thresher.encoders.language_model import LanguageModelEncoder
from thresher.encoders.training import (
    MIN_WORDS,
    sentences_to_text,
    train_and_save_encoder,
    train_encoder,
)
from thresher.errors import InputError
from thresher.text.sentences import segment

SENTENCES = [["Ali", "went", "to", "Lagos", "."], ["አቶ", "ከበደ", "ሄዱ", "።"]]


def test_sentences_as_text_are_segmented_into_the_same_sentences():
    found = [[word.text for word in each.words] for each in segment(sentences_to_text(SENTENCES))]
    assert found == SENTENCES


def test_training_is_reproducible_and_gives_an_encoder(quick_encoders):
    one, same, other = (train_encoder(SENTENCES * 60, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(one.model.embedding, same.model.embedding)
    assert not torch.equal(one.model.embedding, other.model.embedding)
    assert str(one.settings.margin) == "4"
    encoder = LanguageModelEncoder(one, name="own")
    assert encoder.encode(encoder.batch(SENTENCES)).shape[-1] == 16


def test_too_little_text_is_rejected_with_the_minimum():
    with pytest.raises(InputError, match=f"9 words are too few .* at least {MIN_WORDS:,}"):
        train_encoder(SENTENCES)


def test_an_unknown_size_is_rejected_with_the_choices(quick_encoders):
    with pytest.raises(InputError, match="unknown `size` 'huge'; choose from small"):
        train_encoder(SENTENCES * 60, size="huge")


def test_an_encoder_is_trained_saved_and_loaded(quick_encoders, tmp_path):
    folder = tmp_path / "encoder"
    encoder = train_and_save_encoder(SENTENCES * 60, folder, layer=1, device="cpu")
    assert (encoder.name, encoder.layer) == (str(folder), 1)
    assert [path.name for path in tmp_path.iterdir()] == ["encoder"]
    with pytest.raises(InputError, match="already contains a model"):
        train_and_save_encoder(SENTENCES * 60, folder, device="cpu")


def test_a_complete_encoder_is_loaded_when_resuming(quick_encoders, tmp_path, monkeypatch):
    encoder = train_and_save_encoder(SENTENCES * 60, tmp_path / "encoder", device="cpu")
    monkeypatch.setattr(training, "train_encoder", None)  # must not be called again
    again = train_and_save_encoder(SENTENCES * 60, tmp_path / "encoder", device="cpu", resume=True)
    batch = encoder.batch(SENTENCES)
    assert torch.equal(again.encode(batch), encoder.encode(batch))


def test_what_a_run_left_that_stopped_after_saving_is_removed(quick_encoders, tmp_path):
    train_and_save_encoder(SENTENCES * 60, tmp_path / "encoder", device="cpu")
    for left in ("encoder.partial", ".encoder.tmp-a1b2c3_d"):
        (tmp_path / left).mkdir()
    (tmp_path / "encoder.partial" / "train.ids").write_bytes(b"1")
    (tmp_path / ".encoder.lock").touch()
    train_and_save_encoder(SENTENCES * 60, tmp_path / "encoder", device="cpu", resume=True)
    assert [path.name for path in tmp_path.iterdir()] == ["encoder"]


@pytest.mark.parametrize("other", [{"seed": 1}, {"sentences": [["other", "words"]] * 100}])
def test_a_complete_encoder_of_another_run_is_refused_or_trained_again(
    quick_encoders, tmp_path, other
):
    """After a kill, the folder may still have the encoder that was to be replaced."""
    folder, notes = tmp_path / "encoder", []
    train_and_save_encoder(SENTENCES * 60, folder, device="cpu")
    given = {"sentences": SENTENCES * 60, "folder": folder, "device": "cpu", "resume": True} | other
    with pytest.raises(InputError, match=r"was not trained on this text .* add `force` to replace"):
        train_and_save_encoder(**given)
    replaced = train_and_save_encoder(**given, force=True, on_note=notes.append)
    assert [note.partition("; ")[2] for note in notes] == ["it is trained again"]
    fresh = train_and_save_encoder(**given | {"folder": tmp_path / "fresh", "resume": False})
    assert replaced.fingerprint() == fresh.fingerprint()


def test_a_stopped_training_continues_to_the_same_encoder(quick_encoders, tmp_path):
    def stop(progress):
        if 0 < progress.step < progress.steps:
            raise KeyboardInterrupt

    whole = train_and_save_encoder(SENTENCES * 60, tmp_path / "whole", device="cpu")
    with pytest.raises(KeyboardInterrupt):
        train_and_save_encoder(SENTENCES * 60, tmp_path / "two", device="cpu", on_progress=stop)
    assert not (tmp_path / "two").exists()
    again = train_and_save_encoder(SENTENCES * 60, tmp_path / "two", device="cpu", resume=True)
    batch = whole.batch(SENTENCES)
    assert torch.equal(again.encode(batch), whole.encode(batch))


def test_a_layer_that_the_encoder_will_not_have_is_rejected_before_training(tmp_path):
    with pytest.raises(InputError, match="`layer` must be between 1 and 4, got 5"):
        train_and_save_encoder(SENTENCES, tmp_path / "encoder", layer=5, device="cpu")
