"""Write files, and read their texts."""

import json
from pathlib import Path

import pytest

from thresher.text import read_texts


def write(name, content):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return name


def read(*sources, **options):
    return [(d.text, d.source, d.number) for d in read_texts(sources, **options)]


def jsonl(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def write_parquet(name, columns):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table(columns), name, row_group_size=2)
    return name
