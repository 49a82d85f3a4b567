"""The models that come with the package, by their names."""

import subprocess
import sys
from pathlib import Path

import pytest

from thresher import EntityFinder
from thresher.entities.built_in import FAST_ENGLISH, NAMES, folder_of
from thresher.errors import InputError

FOUND = """
import sys
from thresher import EntityFinder

found = EntityFinder.load("fast-english").find("Later Marie Curie moved to Paris, it was said.")
print([span.text for span in found], "transformers" in sys.modules)
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_built_in_model_is_a_whole_folder_with_a_licence(name):
    card = (folder_of(name) / "README.md").read_text(encoding="utf-8")
    assert "\nlicense: cc-by-sa-4.0\n" in card
    assert (folder_of(name) / "config.json").is_file()


def test_a_folder_of_that_name_goes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert folder_of(FAST_ENGLISH).is_absolute()
    Path(FAST_ENGLISH).mkdir()
    assert folder_of(FAST_ENGLISH) == Path(FAST_ENGLISH)
    with pytest.raises(InputError, match=r"fast-english is not a model"):
        EntityFinder.load(FAST_ENGLISH)


def test_the_fast_one_finds_names_and_loads_no_transformer():
    ran = subprocess.run(
        [sys.executable, "-c", FOUND], capture_output=True, text=True, check=True, timeout=120
    )
    assert ran.stdout == "['Marie Curie', 'Paris'] False\n"
