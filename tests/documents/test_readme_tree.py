"""The tree in the README names every file and folder of the top two levels."""

import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src/thresher", "benchmarks", "docs", "examples", "tests")
NOT_LISTED = {"__init__.py", "__main__.py", "py.typed"}


def tree_of(folder: str) -> str:
    """Return the lines of the tree that are indented below a folder."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    tree = re.search(r"^```\n(src/thresher/.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    assert tree is not None
    found = re.search(rf"^{folder}/.*\n((?: .*\n)*)", tree[1], re.MULTILINE)
    assert found is not None, f"{folder}/ is missing"
    return found[1]


def entries(folder: str) -> set[str]:
    """Return the names of the tracked files and of the folders, which end in a slash."""
    command = ["git", "ls-files", folder]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    paths = [Path(line).relative_to(folder) for line in listed.stdout.splitlines()]
    names = {f"{path.parts[0]}/" if len(path.parts) > 1 else path.name for path in paths}
    return {name for name in names if (ROOT / folder / name).exists()} - NOT_LISTED


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_tree_names_every_entry_of_a_folder(folder):
    words = re.findall(r"[\w./*-]+", tree_of(folder))
    missing = [name for name in entries(folder) if not any(fnmatch(name, each) for each in words)]
    assert sorted(missing) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_tree_names_only_what_exists(folder):
    for name in re.findall(r"^  (\S+)", tree_of(folder), re.MULTILINE):
        assert list((ROOT / folder).glob(name)), f"{folder}/{name} does not exist"
