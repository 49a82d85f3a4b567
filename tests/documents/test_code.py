"""Python in README and docs runs, and prints what its comments say; so do the examples."""

import re
from pathlib import Path

import pytest

from thresher.text import read_annotated

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def masked(text: str) -> str:
    return re.sub(r"\d+(\.\d+)?", "0", text)


@pytest.mark.parametrize("name", ["README.md", "docs/first-ten-minutes.md", "docs/api.md"])
def test_code_in_a_document_runs(name, capsys):
    names = {"texts": [Path("corpus.txt").read_text(encoding="utf-8")] * 2}
    if name == "docs/api.md":
        exec("from thresher import EntityFinder; EntityFinder.default().save('my-model')", {})
    blocks = BLOCK.findall((ROOT / name).read_text(encoding="utf-8"))
    assert blocks
    for block in blocks:
        capsys.readouterr()
        exec(compile(block, name, "exec"), names)
        if printed := capsys.readouterr().out:
            said = "".join(line[2:] + "\n" for line in block.splitlines() if line.startswith("# "))
            assert masked(printed) == masked(said)


def test_a_new_domain_is_learned_beside_the_built_in_model(run):
    *_, table = run("python examples/new_domain.py").out.split("\n\n")
    heading, *rows = table.splitlines()
    assert heading.split() == ["built-in", "fitted"]
    scores = {name: fitted for name, _, fitted in (row.rsplit(maxsplit=2) for row in rows)}
    assert scores.keys() >= {"Petrov", "Basel", "threshold"}
    assert re.fullmatch(r"0\.\d\d", scores["threshold"])


def test_triage_puts_doubtful_texts_first_and_writes_them(run, sandbox):
    told = run("python examples/triage.py examples/harbour.txt -o tasks.json --count 3").out
    *mistakes, summary = told.splitlines()
    expected = [float(line.split()[0]) for line in mistakes]
    assert expected == sorted(expected, reverse=True)
    assert summary == "wrote 3 of 4 paragraphs to tasks.json"
    story = Path("examples/harbour.txt").read_text(encoding="utf-8")
    tasks = list(read_annotated("tasks.json", format="label-studio"))
    assert len(tasks) == 3
    assert all(task.text in story and task.spans for task in tasks)
