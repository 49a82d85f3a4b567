"""The wheel has every file of the package and nothing else, and says which licences apply."""

import email
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    [path] = WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("dist")))
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_it_has_the_files_of_the_package_and_its_metadata_and_nothing_else(wheel):
    source = ROOT / "src"
    expected = {
        path.relative_to(source).as_posix()
        for path in (source / "thresher").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    names = set(wheel.namelist())
    metadata = {name for name in names if ".dist-info/" in name}
    assert names - metadata == expected
    assert {Path(name).name for name in metadata} == {
        "METADATA", "WHEEL", "RECORD", "entry_points.txt", "LICENSE"
    }  # fmt: skip


def test_the_data_of_every_built_in_model_and_of_the_page_is_in_it(wheel):
    names = set(wheel.namelist())
    for model in ("english", "small-english", "fast-english", "multilingual"):
        folder = f"thresher/entities/{model}"
        assert {f"{folder}/config.json", f"{folder}/selector.safetensors"} <= names
    assert {"thresher/web/page/index.html", "thresher/py.typed"} <= names


def test_the_metadata_names_the_licence_of_the_code_and_of_the_weights(wheel):
    [name] = (each for each in wheel.namelist() if each.endswith("/METADATA"))
    metadata = email.message_from_bytes(wheel.read(name))
    assert metadata["License-Expression"] == "MIT AND CC-BY-SA-4.0"
