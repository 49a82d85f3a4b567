"""What the rooms' tests share."""

import os

import pytest
from hypothesis import settings

# Kernels run on the CPU, in Triton's interpreter; it must be known before Triton is imported.
os.environ["TRITON_INTERPRET"] = "1"

settings.register_profile("thresher", deadline=None)  # a busy machine is not a defect
settings.load_profile("thresher")


@pytest.fixture(scope="session")
def minilm():
    """The default encoder with its real weights, from the installed package."""
    # Imported here so that tests of the rooms before it need not wait for transformers.
    from thresher.encoders import load_encoder  # noqa: PLC0415

    return load_encoder(device="cpu")


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The folder of a finder without a transformer: random gates, and trust in capitals."""
    import torch  # noqa: PLC0415
    from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: PLC0415

    from thresher.encoders.static import StaticEncoder  # noqa: PLC0415
    from thresher.encoders.static_files import as_saved  # noqa: PLC0415
    from thresher.entities.heads import Head  # noqa: PLC0415
    from thresher.entities.model import FinderModel  # noqa: PLC0415
    from thresher.entities.selector import seeded_selector  # noqa: PLC0415
    from thresher.entities.views import Trust  # noqa: PLC0415

    words = "? the letter that wrote was sent from to by oslo magda rosa . , child".split()
    tokenizer = Tokenizer(
        models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="?")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    noise = torch.Generator().manual_seed(0)
    encoder = as_saved(StaticEncoder(tokenizer, torch.randn(len(words), 8, generator=noise)))
    selector = seeded_selector(0, 8, hidden=4, form="thresholded")
    head = Head(selector, Trust(capital=6.0, lower=-6.0), 0.3)
    model = FinderModel("static", 2, (head,), frozenset(), frozenset(["the"]), static=encoder)
    folder = tmp_path_factory.mktemp("models") / "small"
    model.write(folder)
    return folder
