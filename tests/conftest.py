"""Fixtures for the tests of all packages."""

import functools
import os

import pytest
from hypothesis import settings

# Run kernels on the CPU in Triton's interpreter; Triton reads this when it is imported.
os.environ["TRITON_INTERPRET"] = "1"

settings.register_profile("thresher", deadline=None)  # tests may be slow on a busy machine
settings.load_profile("thresher")

pytest_plugins = ["tests.tiny_encoder"]


@pytest.fixture(scope="session")
def load_once():
    """A `load_encoder` that always returns the default encoder and loads each layer only once."""
    # Imported here so that tests of packages without torch need not wait for torch.
    from thresher.encoders import load_encoder  # noqa: PLC0415

    at = functools.cache(lambda layer: load_encoder(layer=layer, device="cpu"))
    return lambda *_, layer=None, **__: at(layer)


@pytest.fixture(scope="session")
def minilm(load_once):
    """The default encoder with its real weights, from the installed package."""
    return load_once()


@pytest.fixture(scope="session")
def new_bert(tmp_path_factory):
    """A function that saves an untrained BERT with the given words as tokens; returns its folder.

    mask: whether it has a mask token
    distinct: use larger random embeddings, so that the hidden states of words differ
    """
    import torch  # noqa: PLC0415
    from tokenizers import Tokenizer, models, pre_tokenizers, processors  # noqa: PLC0415
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast  # noqa: PLC0415

    def write(words, *, width, layers, mask=False, distinct=False, **options):
        folder = tmp_path_factory.mktemp("bert")
        special = {"pad_token": "[PAD]", "unk_token": "[UNK]"}
        special |= {"cls_token": "[CLS]", "sep_token": "[SEP]"}
        special |= {"mask_token": "[MASK]"} if mask else {}
        ids = {word: number for number, word in enumerate([*special.values(), *words])}
        tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
        config = BertConfig(
            vocab_size=len(ids),
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=2,
            intermediate_size=2 * width,
            **options,
        )
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = BertModel(config)
            if distinct:
                torch.nn.init.normal_(model.embeddings.word_embeddings.weight)
            model.save_pretrained(folder)
        return folder

    return write


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The folder of a finder without a transformer: random gates and a weight for capitals."""
    import torch  # noqa: PLC0415
    from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: PLC0415

    from thresher.encoders.static_encoder import StaticEncoder  # noqa: PLC0415
    from thresher.encoders.static_files import as_saved  # noqa: PLC0415
    from thresher.entities.finding.signal_weights import SignalWeights  # noqa: PLC0415
    from thresher.entities.model import FinderModel  # noqa: PLC0415
    from thresher.entities.selectors import CalibratedSelector  # noqa: PLC0415
    from thresher.gates.selector import seeded_selector  # noqa: PLC0415

    words = "? the letter that wrote was sent from to by oslo magda rosa . , child".split()
    tokenizer = Tokenizer(
        models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="?")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    noise = torch.Generator().manual_seed(0)
    encoder = as_saved(StaticEncoder(tokenizer, torch.randn(len(words), 8, generator=noise)))
    selector = seeded_selector(0, 8, hidden=4, form="thresholded")
    head = CalibratedSelector(selector, SignalWeights(capital=6.0, lower=-6.0), 0.3)
    model = FinderModel("static", 2, (head,), frozenset(), frozenset(["the"]), static=encoder)
    folder = tmp_path_factory.mktemp("models") / "small"
    model.write(folder)
    return folder
