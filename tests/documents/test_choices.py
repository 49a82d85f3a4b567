"""The pages describe every output layer and every prior that can be chosen."""

from pathlib import Path

import pytest

from thresher.entities.choices import PriorName
from thresher.lm.choices import OutputLayerName

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "names"), [("output-layers.md", OutputLayerName), ("options.md", PriorName)]
)
def test_a_table_has_a_row_for_every_name(page, names):
    text = (DOCS / page).read_text(encoding="utf-8")
    missing = [str(name) for name in names if f"\n| `{name}` |" not in text]
    assert not missing, f"add {missing} to the table in docs/{page}"
