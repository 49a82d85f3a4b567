"""Model folders of unknown origin are refused with one line, in bounded memory and time.

Each case changes a small valid model and signs it again, so that its digests are right.
"""

import contextlib
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.hostile_folders.changes import config, sign, text
from tests.hostile_folders.encoder_cases import BERT, OTHER_BERT
from tests.hostile_folders.model_cases import (
    BYTE_PAIRS,
    FINDER,
    KINDS,
    LANGUAGE_MODEL,
    RANGES,
    RATIONALE,
    STATIC,
)

from thresher import EntityFinder
from thresher.encoders import load_encoder
from thresher.encoders.int8_linear import int8_supported
from thresher.entities.built_in import find_model_folder
from thresher.errors import InputError
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.rationales.finder import RationaleFinder

SAVED = Path(__file__).parents[1] / "fixtures" / "version-0.1"
MAX_GROWTH = 1 << 29  # bytes of address space
MAX_SECONDS = 5
GROUPS = {
    "english": {**RANGES, **KINDS},
    "finder": FINDER,
    "static": STATIC,
    "language-model": LANGUAGE_MODEL,
    "byte-pair-language-model": BYTE_PAIRS,
    "rationale": RATIONALE,
    "bert": BERT,
    "other-bert": OTHER_BERT,
}
LOAD: dict[str, Callable[[Path], object]] = {
    "english": lambda folder: EntityFinder.load(folder, device="cpu"),
    "finder": lambda folder: EntityFinder.load(folder, device="cpu"),
    "static": lambda folder: EntityFinder.load(folder, device="cpu"),
    "language-model": TrainedLanguageModel.read,
    "byte-pair-language-model": TrainedLanguageModel.read,
    "rationale": lambda folder: RationaleFinder.load(folder, device="cpu"),
    "bert": lambda folder: load_encoder(str(folder), device="cpu"),
    "other-bert": lambda folder: load_encoder(str(folder), device="cpu"),
}
CASES = [(group, name) for group, changes in GROUPS.items() for name in changes]


@pytest.fixture
def new_folder(tmp_path, small, new_bert):
    """A function of a group: a copy of a valid model that can be changed."""

    def copy(group: str) -> Path:
        if (SAVED / group).exists():
            shutil.copytree(SAVED, tmp_path / "version-0.1")  # with the encoder beside it
            return tmp_path / "version-0.1" / group
        if group == "english":
            return Path(shutil.copytree(find_model_folder("english"), tmp_path / "english"))
        if group == "static":
            return Path(shutil.copytree(small, tmp_path / "static"))
        folder = new_bert(["marie", "left"], width=8, layers=2)
        if group == "other-bert":
            config(hidden_act="relu")(folder)
        return folder

    return copy


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Let the process grow by at most `MAX_GROWTH` and the block take at most `MAX_SECONDS`."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + MAX_GROWTH
    start = time.process_time()
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert time.process_time() - start < MAX_SECONDS


@pytest.mark.parametrize("group", list(GROUPS))
def test_the_unchanged_models_load(new_folder, group):
    folder = new_folder(group)
    sign(folder)
    with limited():
        assert LOAD[group](folder) is not None


@pytest.mark.parametrize(("group", "name"), CASES)
def test_a_hostile_folder_is_refused_with_one_line(new_folder, group, name):
    unused = {"other channels", "one channel", "many channels", "missing layer"}
    if group == "english" and name in unused and not int8_supported():
        pytest.skip("ranges are used only if the CPU supports int8")
    folder = new_folder(group)
    GROUPS[group][name](folder)
    sign(folder)
    with limited(), pytest.raises(InputError) as raised:
        LOAD[group](folder)
    message = str(raised.value)
    assert len(message.splitlines()) == 1
    assert "alloc" not in message
    assert "MemoryError" not in message


@pytest.mark.parametrize("name", ["huge hidden", "NaN weight", "config is a FIFO", "deep lists"])
def test_the_command_line_exits_with_1_and_one_line(new_folder, tmp_path, name):
    folder = new_folder("finder")
    FINDER[name](folder)
    sign(folder)
    (tmp_path / "notes.txt").write_text("Marie left.")
    ran = run("find", tmp_path / "notes.txt", "--model", folder)
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert len(ran.stderr.splitlines()) == 1


EVIL = """
from pathlib import Path
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

Path({marker!r}).touch()

class Config(BertConfig): pass
class Model(BertModel): pass
class Tokens(PreTrainedTokenizerFast): pass
"""


@pytest.mark.parametrize("where", ["config.json", "tokenizer_config.json"])
@pytest.mark.parametrize("group", ["bert", "other-bert"])
def test_code_in_an_encoder_folder_is_never_run(new_folder, tmp_path, group, where):
    folder, marker = new_folder(group), tmp_path / "marker"
    (folder / "evil.py").write_text(EVIL.format(marker=str(marker)))
    classes = {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}
    if where != "config.json":
        classes = {"AutoTokenizer": ["evil.Tokens", "evil.Tokens"]}
    text(where, lambda value: value.update(auto_map=classes))(folder)
    model = Path(shutil.copytree(SAVED / "finder", tmp_path / "model"))
    config(encoder=str(folder))(model)
    (tmp_path / "notes.txt").write_text("Marie left.")
    ran = run("find", tmp_path / "notes.txt", "--model", model, answers="yes\n" * 100)
    assert ran.returncode == 1
    assert "program code of its own (auto_map), which is never run" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert not marker.exists()


def run(*arguments: object, answers: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "thresher", *map(str, arguments), "--device", "cpu"],
        input=answers,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
