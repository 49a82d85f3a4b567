"""A finder that is quick to load anywhere, since it has no transformer."""

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers

from thresher.encoders.static import StaticEncoder
from thresher.encoders.static_files import as_saved
from thresher.entities.finder import EntityFinder
from thresher.entities.heads import Head
from thresher.entities.model import FinderModel
from thresher.entities.selector import seeded_selector
from thresher.entities.views import Trust

WORDS = "? the letter that wrote was sent from to by oslo magda rosa . , child".split()


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The folder of a finder with random gates that trusts capitals."""
    ids = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    noise = torch.Generator().manual_seed(0)
    encoder = as_saved(StaticEncoder(tokenizer, torch.randn(len(WORDS), 8, generator=noise)))
    selector = seeded_selector(0, 8, hidden=4, form="thresholded")
    head = Head(selector, Trust(capital=6.0, lower=-6.0), 0.3)
    model = FinderModel("static", 2, (head,), frozenset(), frozenset(["the"]), static=encoder)
    folder = tmp_path_factory.mktemp("models") / "small"
    EntityFinder(encoder, model).save(folder)
    return folder
