"""Tokens on disk are those that encoding the whole text gives."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import InputError
from thresher.lm.tokens import id_files as module
from thresher.lm.tokens.factory import learn_tokens
from thresher.lm.tokens.id_files import mapped_ids
from thresher.lm.training.fit import fit_language_model
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.transformer import Shape

TEXT = "The sea was calm. The boats\r\nlay still.\n\nNobody came.\u2028 The sea rose.\x85" * 9


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ids")


@pytest.mark.parametrize("kind", ["characters", "bpe", "word-pairs", "words"])
@pytest.mark.parametrize("piece", [1, 50, 10_000])
def test_they_are_the_tokens_of_the_whole_text(folder, monkeypatch, kind, piece):
    monkeypatch.setattr(module, "PIECE", piece)
    tokens = learn_tokens(kind, TEXT)
    found = mapped_ids(tokens, TEXT, folder / "ids")
    assert found.dtype == torch.int64
    assert found.tolist() == tokens.encode(TEXT).tolist()


@given(st.text(st.sampled_from("a \n\r\v\x85\u2028"), max_size=40), st.integers(1, 9))
def test_no_cut_changes_a_token(folder, text, piece):
    tokens = learn_tokens("bpe", "a a\na\r\n" * 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PIECE", piece)
        assert mapped_ids(tokens, text, folder / "ids").tolist() == tokens.encode(text).tolist()


def test_a_model_learns_the_same_from_them(tmp_path):
    """With a work folder they are mapped, without one they are not."""
    how = {
        "shape": Shape(width=16, layers=1, heads=1, context=16),
        "settings": LanguageModelSettings(steps=3, batch=2, evaluate_every=3),
    }
    mapped = fit_language_model(TEXT * 3, work=tmp_path, **how)
    assert (tmp_path / "train.ids").stat().st_size > 8 * 1000
    held = fit_language_model(TEXT * 3, **how)
    losses = [[row["training_loss"] for row in each.log] for each in (mapped, held)]
    assert losses[0] == losses[1]
    assert mapped.test.loss == held.test.loss


def test_ids_that_were_mapped_before_stay_as_they_are(tmp_path):
    """A file cut short under a mapping would end the process that reads it."""
    tokens = learn_tokens("characters", "ab")
    before = mapped_ids(tokens, "ba" * 10_000, tmp_path / "ids")
    after = mapped_ids(tokens, "a", tmp_path / "ids")
    assert after.tolist() == [0]
    assert before.tolist() == [1, 0] * 10_000


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match="cannot write token ids to"):
        mapped_ids(learn_tokens("characters", "ab"), "ab", tmp_path / "none" / "ids")
