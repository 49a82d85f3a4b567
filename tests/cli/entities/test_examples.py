"""The texts that come with the project do what the documentation says of them."""

import json
from pathlib import Path

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_the_story_is_read_as_one_text(run, model):
    story = EXAMPLES / "harbour.txt"
    record = json.loads(run("find", story, "--model", model).out)
    assert record["text"] == story.read_text(encoding="utf-8")


def test_the_gold_tags_are_read_whole(run, model):
    told = json.loads(run("eval", EXAMPLES / "gold.conll", "--model", model, "--json").out)
    assert (told["sentences"], told["words"], told["spans"]) == (20, 242, 22)
