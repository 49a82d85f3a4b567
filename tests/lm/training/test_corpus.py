"""A text in a file is prepared like one in memory, and only once."""

import pytest
import torch
from tests.lm.small_model import SETTINGS, SHAPE, make_text

from thresher.errors import InputError
from thresher.lm.tokens.factory import learn_tokenizer
from thresher.lm.tokens.text_file import TextFile
from thresher.lm.training import corpus as module
from thresher.lm.training.corpus import tokenize_corpus
from thresher.lm.training.fit import fit_language_model


@pytest.fixture
def text(tmp_path):
    return TextFile.write(tmp_path / "text", [make_text()])


@pytest.mark.parametrize("kind", ["characters", "bpe", "words", "word-pairs"])
def test_a_file_gives_the_tokens_of_the_same_text_in_memory(kind, text, tmp_path):
    vocabulary = 300 if kind == "bpe" else None
    options = {"tokenizer": kind, "vocabulary": vocabulary}
    in_file = tokenize_corpus(text, work_dir=tmp_path, **options)
    in_memory = tokenize_corpus(make_text(), **options)
    assert in_file.tokenizer.to_json() == in_memory.tokenizer.to_json()
    assert torch.equal(in_file.data.train, in_memory.data.train)
    assert torch.equal(in_file.data.validation, in_memory.data.validation)
    assert torch.equal(in_file.test, in_memory.test)
    assert torch.equal(in_file.data.counts, in_memory.data.counts)
    assert in_file.test_text == in_memory.test_text


def test_a_resumed_run_neither_learns_nor_encodes_again(text, tmp_path, monkeypatch):
    first = tokenize_corpus(text, tokenizer="bpe", vocabulary=300, work_dir=tmp_path)

    def refuse(*arguments, **options):
        raise AssertionError

    monkeypatch.setattr(module, "learn_tokenizer", refuse)
    monkeypatch.setattr(type(first.tokenizer), "encode_pieces", refuse)
    again = tokenize_corpus(text, tokenizer="bpe", vocabulary=300, work_dir=tmp_path, resume=True)
    assert torch.equal(again.data.train, first.data.train)
    assert torch.equal(again.data.counts, first.data.counts)
    with pytest.raises(AssertionError):
        tokenize_corpus(text, tokenizer="bpe", vocabulary=300, work_dir=tmp_path)


def test_a_run_is_not_resumed_with_the_ids_of_another_tokenizer(text, tmp_path):
    tokenize_corpus(text, tokenizer="bpe", vocabulary=300, work_dir=tmp_path)
    for kind, vocabulary in (("characters", None), ("bpe", 301)):
        with pytest.raises(InputError, match="a tokenizer of kind bpe with 300 tokens; leave out"):
            tokenize_corpus(
                text, tokenizer=kind, vocabulary=vocabulary, work_dir=tmp_path, resume=True
            )
    other = learn_tokenizer("bpe", make_text()[::-1], vocabulary=300)  # of the same size
    resumed = tokenize_corpus(text, tokenizer=other, work_dir=tmp_path, resume=True)
    expected = tokenize_corpus(make_text(), tokenizer=other)
    assert torch.equal(resumed.data.train, expected.data.train)


def test_a_model_is_the_same_from_a_file_and_from_memory(text, tmp_path):
    options = {"shape": SHAPE, "settings": SETTINGS}
    in_file = fit_language_model(text, work_dir=tmp_path, **options)
    in_memory = fit_language_model(make_text(), **options)
    for name, value in in_memory.model.weights().items():
        assert torch.equal(in_file.model.weights()[name], value)
    assert in_file.test.metrics() == in_memory.test.metrics()
