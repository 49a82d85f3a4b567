"""The example texts give the results that the documentation shows."""

import json
from pathlib import Path

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_the_story_is_read_as_one_text(run, model):
    story = EXAMPLES / "harbour.txt"
    record = json.loads(run("find", story, "--model", model).out)
    assert record["text"] == story.read_text(encoding="utf-8")


def test_all_gold_tags_are_read(run, model):
    figures = json.loads(run("eval", EXAMPLES / "gold.conll", "--model", model, "--json").out)
    assert (figures["sentences"], figures["words"], figures["spans"]) == (20, 242, 22)
