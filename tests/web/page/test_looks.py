"""The appearance of the page in light and dark mode and on screens of several sizes."""

from pathlib import Path

import pytest

from thresher.web import page

TEXT = "Marie Curie moved to Paris. Nobody knew why Albert Einstein had left Marie Curie alone."
CONTRAST = """() => {
    const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
        .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const over = ([r, g, b, a = 1], back) => [r, g, b].map((c, i) => a * c + (1 - a) * back[i]);
    const back = (node) => node === document.documentElement ? [255, 255, 255]
        : over(parts(getComputedStyle(node).backgroundColor), back(node.parentElement));
    return [...document.querySelectorAll(".entity .word, .bar, footer p, button:enabled, #status")]
        .map((node) => {
            const [a, b] = [light(parts(getComputedStyle(node).color)), light(back(node))];
            return [node.textContent.trim(), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
        });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(visit, scheme):
    """At least the ratio of 4.5 that WCAG requires, also on the darkest shades."""
    visit.page.emulate_media(color_scheme=scheme)
    visit.type(TEXT)
    measured = visit.page.evaluate(CONTRAST)
    assert len(measured) > 10
    assert [each for each in measured if each[1] < 4.5] == []


def test_the_page_follows_light_and_dark_mode(visit):
    def background():
        return visit.page.evaluate("getComputedStyle(document.body).backgroundColor")

    visit.page.emulate_media(color_scheme="light")
    light = background()
    visit.page.emulate_media(color_scheme="dark")
    assert background() != light


def test_each_paragraph_has_its_own_direction(visit):
    visit.type("مرحبا بكم جميعا\nMarie Curie left.")
    result, name = (visit.page.locator(each).bounding_box() for each in ("#result", ".entity"))
    assert name["x"] < result["x"] + 50


def test_the_label_of_the_checkbox_stays_on_one_line(visit):
    visit.page.set_viewport_size({"width": 375, "height": 700})
    visit.type(TEXT * 8)  # a long status
    label = visit.page.locator("label:has(#all-words)").bounding_box()
    assert label["height"] < 1.7 * 16  # one line


def test_the_example_button_is_visible_on_a_small_screen(visit):
    visit.page.set_viewport_size({"width": 320, "height": 568})
    threshold, example = (
        visit.page.locator(each).bounding_box() for each in ("#threshold-panel", "#example")
    )
    assert threshold["y"] >= example["y"] + example["height"]


def test_a_narrow_screen_does_not_scroll_sideways(visit):
    visit.type(TEXT + " " + "x" * 300)
    for width in (768, 390, 320):
        visit.page.set_viewport_size({"width": width, "height": 700})
        visit.page.click(".entity >> nth=1")
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        visit.page.click("#details .close")


def test_the_page_is_small():
    files = [file for file in Path(page.__file__).parent.iterdir() if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 40_000
