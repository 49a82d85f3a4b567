"""The notebooks run from their first to their last cell, and their saved outputs are current."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def printed(notebook) -> list[str]:
    """Return what each cell printed or returned as text; numbers may differ between machines."""
    texts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            texts.append(re.sub(r"\d+(\.\d+)?", "0", text))
    return texts


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")  # of Jupyter and of the kernel's event loop
def test_a_notebook_runs_and_prints_what_was_saved(path):
    notebook = nbformat.read(path, as_version=4)
    saved = printed(notebook)
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}
    ).execute()
    assert saved
    assert printed(notebook) == saved


def test_there_are_two_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["entities", "margin-loss"]
