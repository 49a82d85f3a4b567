"""What the rooms' tests share."""

import pytest
from hypothesis import settings

settings.register_profile("thresher", deadline=None)  # a busy machine is not a defect
settings.load_profile("thresher")


@pytest.fixture(scope="session")
def minilm():
    """The default encoder with its real weights, from the installed package."""
    # Imported here so that tests of the rooms before it need not wait for transformers.
    from thresher.encoders import load_encoder  # noqa: PLC0415

    return load_encoder(device="cpu")
