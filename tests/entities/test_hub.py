"""`from_pretrained` passes its arguments on to `load`."""

import pytest

from thresher.entities.hub import HubModel
from thresher.errors import InputError


class RecordingModel(HubModel):
    """Records how it was loaded."""

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


def test_arguments_are_passed_to_load(folder):
    loaded = RecordingModel.from_pretrained(folder, device="cpu", exact=True)
    assert loaded.options == {"folder": str(folder), "device": "cpu", "exact": True}
    assert RecordingModel.from_pretrained(folder).options["exact"] is False


def test_an_unknown_argument_is_an_error(folder):
    with pytest.raises(TypeError, match="unexpected keyword argument 'devise'"):
        RecordingModel.from_pretrained(folder, devise="cpu")


def test_a_model_that_the_hub_does_not_have_is_one_line(monkeypatch):
    def download(name, **options):
        raise ConnectionError("no route\nto the host")

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    with pytest.raises(InputError, match="there is no model folder someone/model, and ") as caught:
        RecordingModel.from_pretrained("someone/model")
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith("(ConnectionError)")
