"""Models are pushed to the Hub and loaded from it; the tests use no network."""

import re
import socket
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import ModelCard

import thresher.entities
from thresher import EntityFinder
from thresher.entities.model import FinderModel
from thresher.errors import InputError

BUILT_IN = Path(thresher.entities.__file__).parent / "english"
WORDS = [["Marie", "Curie", "moved", "to", "Paris", "."]]


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def scores(finder):
    return finder.score_sentences(WORDS)[0].scores


def names_in(folder):
    return sorted(file.name for file in folder.iterdir())


def test_a_folder_is_loaded_without_a_network(finder, tmp_path):
    finder.save_pretrained(tmp_path / "model")
    loaded = EntityFinder.from_pretrained(tmp_path / "model", device="cpu")
    np.testing.assert_array_equal(scores(loaded), scores(finder))


def test_save_pretrained_writes_the_same_files_as_save(finder, tmp_path):
    finder.save_pretrained(str(tmp_path / "one"))
    finder.save(tmp_path / "two")
    assert names_in(tmp_path / "one") == names_in(tmp_path / "two")
    for name in names_in(tmp_path / "one"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    finder.save_pretrained(tmp_path / "one")  # over what is there
    assert names_in(tmp_path) == ["one", "two"]


def test_a_folder_that_is_not_a_model_is_not_overwritten(finder, tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(InputError, match="exists and is not a model"):
        finder.save_pretrained(tmp_path)
    assert names_in(tmp_path) == ["thesis.txt"]


def test_a_folder_that_is_not_a_model_is_rejected(tmp_path):
    with pytest.raises(InputError, match="is not a model"):
        EntityFinder.from_pretrained(tmp_path)


def test_a_copy_of_the_built_in_model_names_its_sources_and_licence(tmp_path):
    built_in = FinderModel.read(BUILT_IN)
    built_in.write(tmp_path / "copy")
    own, copied = (ModelCard.load(folder / "README.md") for folder in (BUILT_IN, tmp_path / "copy"))
    assert copied.data.license == own.data.license == "cc-by-sa-4.0"
    sources = re.findall(r"^\| .* \|$", own.text, re.MULTILINE)[1:11]
    assert "VADER" in sources[-1]
    for line in sources:
        assert line in copied.text


def test_the_card_is_filled_in(finder, tmp_path):
    finder.save_pretrained(tmp_path / "model")
    card = ModelCard.load(tmp_path / "model" / "README.md")
    assert card.data.library_name == "thresher"
    assert card.data.pipeline_tag == "token-classification"
    assert "unsupervised" in card.data.tags
    assert finder.model.encoder in card.text
    assert f"{finder.threshold:.2f}" in card.text
    assert "EntityFinder.from_pretrained(" in card.text


class FakeHub:
    """Keeps what would be uploaded to the Hub."""

    def __init__(self, place) -> None:
        self.place = place
        self.calls: list[dict] = []

    def __call__(self, token=None):
        return self

    def create_repo(self, repo_id, **options):
        self.repo_id = repo_id
        return self

    def upload_folder(self, *, folder_path, **options):
        self.calls.append(options)
        folder_path.rename(self.place)
        return "address of the commit"


@pytest.mark.parametrize("way", ["push_to_hub", "save_pretrained"])
def test_a_model_that_is_pushed_can_be_pulled(finder, tmp_path, monkeypatch, way):
    hub = FakeHub(tmp_path / "repository")
    monkeypatch.setattr("huggingface_hub.HfApi", hub)
    if way == "push_to_hub":
        address = finder.push_to_hub("someone/names", private=True)
    else:
        address = finder.save_pretrained(
            tmp_path / "here", push_to_hub=True, repo_id="someone/names", private=True
        )
    assert address == "address of the commit"
    assert hub.repo_id == "someone/names"
    assert hub.calls[0]["repo_id"] == "someone/names"
    assert {"README.md", "config.json", "selector.safetensors"} <= set(names_in(hub.place))

    pulled = []

    def download(name, **options):
        pulled.append((name, options["revision"]))
        return str(hub.place)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    loaded = EntityFinder.from_pretrained("someone/names", revision="v1")
    assert pulled == [("someone/names", "v1")]
    np.testing.assert_array_equal(scores(loaded), scores(finder))
