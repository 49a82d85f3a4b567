"""Kinds on the page: colours, legend, filter, and example names."""

import pytest

expect = pytest.importorskip("playwright.sync_api").expect

TEXT = "Marie Curie flew from Oslo to Hamburg with Tomasz Wilk."
EXAMPLES = "human: Albert Einstein, Barack Obama, Jensen Huang\ncity: Paris, Boston, Madrid"
LEARNING = 30_000  # milliseconds until kinds are learned, on a slow machine


def shown(page, kind):
    return page.locator(f'#result .entity[data-kind="{kind}"]')


def write_examples(page, examples):
    page.locator("#examples summary").click()
    page.locator("#example-names").fill(examples)


def test_example_names_update_the_text_the_legend_and_the_colours(visit):
    page = visit.page
    page.locator("#text").fill(TEXT)
    expect(page.locator("#result .entity").first).to_be_visible()
    write_examples(page, EXAMPLES)
    expect(page.locator("#kinds button", has_text="city")).to_be_visible(timeout=LEARNING)
    cities, humans = shown(page, "city"), shown(page, "human")
    expect(cities.first).to_be_visible()
    expect(humans.first).to_be_visible()
    colour = "node => getComputedStyle(node).backgroundColor"
    assert cities.first.evaluate(colour) != humans.first.evaluate(colour)
    legend = page.locator("#kinds button", has_text="city")
    expect(legend).to_have_text(f"city {cities.count()}")


def test_a_kind_can_be_hidden_and_shown_again(visit):
    page = visit.page
    page.locator("#text").fill(TEXT)
    write_examples(page, EXAMPLES)
    button = page.locator("#kinds button", has_text="city")
    expect(button).to_have_attribute("aria-pressed", "true", timeout=LEARNING)
    count = shown(page, "city").count()
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(button).to_be_focused()
    expect(shown(page, "city")).to_have_count(0)
    expect(shown(page, "human").first).to_be_visible()
    expect(page.locator("#result")).to_have_text(TEXT)
    button.press("Enter")
    expect(shown(page, "city")).to_have_count(count)


def test_a_line_that_is_no_kind_is_explained_and_the_others_are_used(visit):
    page = visit.page
    page.locator("#text").fill(TEXT)
    write_examples(page, f"{EXAMPLES}\nthis line has no colon")
    expect(page.locator("#example-problem")).to_contain_text("Line 3 is not of the form")
    expect(page.locator("#kinds button", has_text="city")).to_be_visible(timeout=LEARNING)


def test_examples_survive_a_reload(visit):
    page = visit.page
    page.locator("#text").fill(TEXT)
    write_examples(page, EXAMPLES)
    expect(page.locator("#kinds button", has_text="city")).to_be_visible(timeout=LEARNING)
    page.reload()
    expect(page.locator("#example-names")).to_have_value(EXAMPLES)
    expect(page.locator("#kinds button", has_text="city")).to_be_visible(timeout=LEARNING)
