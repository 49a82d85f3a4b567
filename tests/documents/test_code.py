"""Python code in README and docs/ runs and prints what its comments show; so do the examples."""

import re
from pathlib import Path

import pytest

from thresher.text import read_annotated

ROOT = Path(__file__).parents[2]
QUICK = {"steps=100": "steps=2"}  # in the code of a page, so that it takes seconds
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def masked(text: str) -> str:
    """Replace numbers, which may differ between machines."""
    return re.sub(r"\d+(\.\d+)?", "0", text)


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/first-ten-minutes.md",
        "docs/recipes.md",
        "docs/api.md",
        "docs/onnx.md",
    ],
)
def test_code_in_a_document_runs(name, capsys):
    names = {"texts": [Path("corpus.txt").read_text(encoding="utf-8")] * 2}
    if name == "docs/api.md":
        exec("from thresher import EntityFinder; EntityFinder.default().save('my-model')", {})
    blocks = BLOCK.findall((ROOT / name).read_text(encoding="utf-8"))
    assert blocks
    for block in blocks:
        capsys.readouterr()
        quick = block
        for slow, fast in QUICK.items():
            quick = quick.replace(slow, fast)
        exec(compile(quick, name, "exec"), names)
        if printed := capsys.readouterr().out:
            shown = [line[2:] + "\n" for line in block.splitlines() if line.startswith("# ")]
            assert masked(printed) == masked("".join(shown))


def test_the_example_of_a_new_domain_compares_both_models(run):
    *_, table = run("python examples/new_domain.py").out.split("\n\n")
    heading, *rows = table.splitlines()
    assert heading.split() == ["built-in", "fitted"]
    scores = {name: fitted for name, _, fitted in (row.rsplit(maxsplit=2) for row in rows)}
    assert scores.keys() >= {"Petrov", "Basel", "threshold"}
    assert re.fullmatch(r"0\.\d\d", scores["threshold"])


def test_the_example_of_triage_writes_doubtful_texts_first(run, sandbox):
    printed = run("python examples/triage.py examples/harbour.txt -o tasks.json --count 3").out
    *mistakes, summary = printed.splitlines()
    expected = [float(line.split()[0]) for line in mistakes]
    assert expected == sorted(expected, reverse=True)
    assert summary == "wrote 3 of 4 paragraphs to tasks.json"
    story = Path("examples/harbour.txt").read_text(encoding="utf-8")
    tasks = list(read_annotated("tasks.json", format="label-studio"))
    assert len(tasks) == 3
    assert all(task.text in story and task.spans for task in tasks)
