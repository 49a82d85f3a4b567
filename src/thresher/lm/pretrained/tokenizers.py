"""Tokenizers of pretrained models, and our tokenizers in the format of the tokenizers library."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
from tokenizers import Regex, decoders, models, pre_tokenizers

from thresher.errors import InputError
from thresher.lm.choices import PretrainedKind, TokenizerKind
from thresher.lm.tokens.byte_pairs import BytePairTokenizer
from thresher.lm.tokens.characters import CharacterTokenizer
from thresher.lm.tokens.library_tokenizers import read_library_tokenizer, require_ids_below
from thresher.lm.tokens.text_range import TextRange
from thresher.lm.tokens.tokenizer import Ids, Tokenizer, replace_surrogates
from thresher.lm.tokens.word_pairs import WordPairTokenizer
from thresher.untrusted_files import read_regular

_FILE = "tokenizer.json"
# The line ends of `str.splitlines`, at which our tokenizers split a text first.
_LINE_END = r"\r\n|[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]"


class PretrainedTokenizer(Tokenizer):
    """A tokenizer in the format of the tokenizers library that comes with a model.

    vocabulary: of the model, which may have more rows than the tokenizer has tokens
    """

    kind = PretrainedKind.PRETRAINED
    lossless = False  # it may normalise its text

    def __init__(self, tokenizer: tokenizers.Tokenizer, vocabulary: int) -> None:
        require_ids_below(vocabulary, tokenizer)
        self._tokenizer = tokenizer
        known = {token: name for name, token in tokenizer.get_vocab().items()}
        self.names = [known.get(token, f"<unused {token}>") for token in range(vocabulary)]

    def encode_pieces(self, text: TextRange) -> Iterator[Ids]:
        """Yield the token ids of pieces that end at line ends, without special tokens."""
        for piece in text.pieces():
            encoded = self._tokenizer.encode(replace_surrogates(piece), add_special_tokens=False)
            yield np.array(encoded.ids, dtype=np.int64)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of token ids; special tokens have none."""
        return str(self._tokenizer.decode(list(ids)))

    def _json_content(self) -> Any:
        return {"vocabulary": len(self.names), "tokenizer": json.loads(self._tokenizer.to_str())}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "PretrainedTokenizer":
        """Read what `to_json` saved."""
        saved = read_library_tokenizer(json.dumps(content["tokenizer"]))
        return cls(saved, int(content["vocabulary"]))


def read_tokenizer(folder: Path, vocabulary: int) -> PretrainedTokenizer:
    """Read the tokenizer.json of a folder."""
    path = folder / _FILE
    if not path.exists():
        raise InputError(f"{folder} has no {_FILE}; save its tokenizer there with `AutoTokenizer`")
    try:
        tokenizer = read_library_tokenizer(read_regular(path).decode())
    except Exception as error:  # the tokenizers library raises Exception itself
        raise InputError(f"cannot read {path}: {error}") from error
    return PretrainedTokenizer(tokenizer, vocabulary)


def export_tokenizer(tokenizer: Tokenizer, *, context: int) -> dict[str, bytes]:
    """Return the files of a tokenizer for `AutoTokenizer`; none if it needs this library.

    context: the maximum number of tokens of a text
    """
    converted = _converted(tokenizer)
    if converted is None:
        return {}
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": context,
        "clean_up_tokenization_spaces": False,
    }
    return {
        _FILE: converted.to_str().encode(),
        "tokenizer_config.json": json.dumps(config, indent=2).encode(),
    }


def _converted(tokenizer: Tokenizer) -> tokenizers.Tokenizer | None:
    """Return the tokenizer in the format of the tokenizers library, if it can be written so."""
    if isinstance(tokenizer, CharacterTokenizer):
        return character_tokenizer(tokenizer.names)
    if isinstance(tokenizer, WordPairTokenizer) or not isinstance(
        tokenizer, BytePairTokenizer | PretrainedTokenizer
    ):
        return None
    copy = tokenizers.Tokenizer.from_str(tokenizer._tokenizer.to_str())
    if tokenizer.kind == TokenizerKind.BPE:
        lines = pre_tokenizers.Split(Regex(_LINE_END), behavior="merged_with_previous")
        copy.pre_tokenizer = pre_tokenizers.Sequence([lines, copy.pre_tokenizer])
    return copy


def character_tokenizer(characters: Iterable[str]) -> tokenizers.Tokenizer:
    """Return a tokenizer of the tokenizers library in which every character is a token."""
    vocabulary = {character: token for token, character in enumerate(characters)}
    first = next(iter(vocabulary))  # for unknown characters, which have no token
    converted = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token=first))
    converted.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    converted.decoder = decoders.Fuse()
    return converted
