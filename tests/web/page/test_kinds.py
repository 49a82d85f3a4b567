"""Kinds on the page: colours, legend, filter, and example names."""

import pytest

expect = pytest.importorskip("playwright.sync_api").expect

TEXT = "Marie Curie flew from Oslo to Hamburg with Tomasz Wilk."
EXAMPLES = (
    "human: Albert Einstein, Barack Obama, Jensen Huang, Rosa Parks, Ada Lovelace\n"
    "city: Paris, Boston, Madrid, London, Berlin, Lagos"
)
LEARNING = 30_000  # milliseconds until kinds are learned, on a slow machine


def write_examples(visit, examples):
    visit.page.locator("#examples summary").click()
    visit.page.locator("#example-names").fill(examples)


def chip(visit, kind):
    return visit.page.locator(f'#kinds button[data-kind="{kind}"]')


def test_example_names_update_the_text_the_legend_and_the_colours(visit, finder):
    visit.type(TEXT)
    assert "city" not in [kind for _, kind, _ in visit.rows()]
    write_examples(visit, EXAMPLES)
    expect(chip(visit, "city")).to_be_visible(timeout=LEARNING)
    kinds = dict(line.split(": ") for line in EXAMPLES.splitlines())
    typed = finder.with_kinds({kind: names.split(", ") for kind, names in kinds.items()})
    spans = typed.find(TEXT)
    assert visit.rows() == [(span.text, span.kind or "", "1") for span in spans]
    cities = [span.text for span in spans if span.kind == "city"]
    assert cities
    expect(chip(visit, "city")).to_have_text(f"city {len(cities)}")
    colours = visit.page.locator("mark.entity").evaluate_all(
        """marks => marks.map((mark) =>
            [mark.textContent, mark.style.getPropertyValue("--highlight")])"""
    )
    of_cities = {colour for text, colour in colours if text in cities}
    assert len(of_cities) == 1
    assert of_cities.isdisjoint(colour for text, colour in colours if text not in cities)


def test_a_kind_can_be_hidden_and_shown_again(visit, finder):
    visit.type(TEXT)
    places = [span.text for span in finder.find(TEXT) if span.kind == "place"]
    button = chip(visit, "place")
    expect(button).to_have_attribute("aria-pressed", "true")
    requests = visit.find_requests()
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(button).to_be_focused()
    assert places
    assert not set(places) & set(visit.entities())
    assert "Marie Curie" in visit.entities()
    button.press("Enter")
    assert set(places) <= set(visit.entities())
    assert visit.find_requests() == requests


def test_a_line_that_is_no_kind_is_explained_and_the_others_are_used(visit):
    visit.type(TEXT)
    write_examples(visit, f"{EXAMPLES}\nthis line has no colon")
    expect(visit.page.locator("#example-problem")).to_contain_text("Line 3 is not of the form")
    expect(chip(visit, "city")).to_be_visible(timeout=LEARNING)
    assert visit.page.is_hidden("#problem")


REFUSED = {
    "a: b\na: c": "The kind “a” is on two lines.",
    "a: Bob\nb: Eve,  bob": "“bob” is listed under two kinds, a and b.",
    "ice cream: b": "The kind “ice cream” must be one word, such as ice-cream.",
    "a,b: c": "The kind “a,b” must have no comma.",
    "None: b": "A kind cannot have the name None.",
    "ENT: b": "A kind cannot have the name ENT.",
    "a: ?!": "Line 1 is not of the form “person: Marie Curie, Obama”.",
    f"a: {'x' * 101}": "Line 1 has a name of more than 100 characters.",
    "a: " + ", ".join(f"n{i}" for i in range(101)): "Line 1 has more than 100 names.",
    "\n".join(f"k{i}: x{i}" for i in range(31)): "At most 30 kinds are possible.",
    "__proto__: x": "",
}


def test_names_that_the_server_would_refuse_are_explained(visit):
    visit.type(TEXT)
    visit.page.locator("#examples summary").click()
    for lines, problem in REFUSED.items():
        visit.page.locator("#example-names").fill(lines)
        expect(visit.page.locator("#example-problem")).to_have_text(problem)
    visit.page.wait_for_selector("#entities-panel[aria-busy=false]", timeout=LEARNING)
    assert visit.page.is_hidden("#problem")
