"""Pages and Markdown of real life: few false entities, and none from menus, scripts or code.

In the fixtures, entities are marked with ⟦ and ⟧, which are removed before they are read.
"""

import re
from pathlib import Path

import pytest

from thresher import EntityFinder, read_texts

FIXTURES = Path(__file__).parents[2] / "fixtures" / "real_text"


@pytest.fixture(scope="module")
def built_in(load_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("thresher.entities.loading.load_encoder", load_once)
        return EntityFinder.default()


def gold_and_text(path, tmp_path):
    """Return the bounds of the marked entities in the extracted text, and this text."""
    (marked,) = read_texts(path)
    bounds, text = [], ""
    for part in re.split("(⟦.*?⟧)", marked.text):
        name = part.strip("⟦⟧")
        if part.startswith("⟦"):
            bounds.append((len(text), len(text) + len(name)))
        text += name
    plain = tmp_path / path.name
    plain.write_text(re.sub("[⟦⟧]", "", path.read_text(encoding="utf-8")), encoding="utf-8")
    (document,) = read_texts(plain)
    assert document.text == text
    return bounds, text


@pytest.mark.parametrize("name", ["page.html", "notes.md"])
def test_fewer_than_a_tenth_of_the_entities_are_false(built_in, tmp_path, name):
    gold, text = gold_and_text(FIXTURES / name, tmp_path)
    found = {(span.start, span.end) for span in built_in.find(text)}
    false = found - set(gold)
    assert len(false) < 0.1 * len(found)
    assert len(found & set(gold)) > 0.8 * len(gold)


def test_a_page_read_as_plain_text_would_have_many_false_entities(built_in, tmp_path):
    """The control: without extraction, more than a third of the entities are menus and markup."""
    gold, text = gold_and_text(FIXTURES / "page.html", tmp_path)
    names = {text[start:end] for start, end in gold}
    (page,) = read_texts(tmp_path / "page.html", format="text")
    found = [span.text for span in built_in.find(page.text)]
    assert sum(name not in names for name in found) > len(found) / 4
