"""What is asked of a model on the Hub is what its folder is loaded with."""

import pytest

from thresher.entities.hub import HubModel


class Noting(HubModel):
    """Notes how it was loaded."""

    def __init__(self, encoder, **options):
        self.encoder, self.options = encoder, options

    @classmethod
    def load(cls, folder, **options):
        return cls("its own", folder=folder, **options)

    def save(self, folder):
        raise NotImplementedError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "config.json").write_text('{"encoder": "some/name"}')
    return tmp_path


def test_options_reach_the_model(folder):
    loaded = Noting.from_pretrained(folder, device="cpu", exact=True)
    assert loaded.options == {"folder": str(folder), "device": "cpu", "exact": True}
    assert Noting.from_pretrained(folder).options["exact"] is False


def test_an_option_that_there_is_not_is_refused_with_those_that_there_are(folder):
    with pytest.raises(TypeError, match="unknown option 'devise'; choose from device, exact"):
        Noting.from_pretrained(folder, devise="cpu")
