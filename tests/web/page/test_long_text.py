"""A text of 131 kB: progress, and a page that stays responsive."""

from collections.abc import Iterator

import pytest
from tests.web.page.conftest import Visit, serving

from thresher.web.models import ServedModels

PARAGRAPH = "Nobody knew why Marie Curie had left Paris. Tomasz Wilk asked her in Oslo. " * 3
LONG = (PARAGRAPH + "\n") * (131_000 // (len(PARAGRAPH) + 1))

WATCH = """() => {
    window.longTasks = [];
    window.progress = [];
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((e) => e.duration)))
        .observe({ type: "longtask" });
    new MutationObserver(() => progress.push(document.getElementById("progress").value))
        .observe(document.getElementById("progress"), { attributes: true });
}"""


@pytest.fixture(scope="module")
def roomy_address(finder) -> Iterator[str]:
    with serving(ServedModels({"english": finder})) as address:
        yield address


def test_a_long_text_is_shaded_without_blocking_the_page(context, roomy_address, finder):
    visit = Visit(context.new_page(), roomy_address)
    page = visit.page
    page.wait_for_selector("#example", state="visible")
    page.check("#all-words")
    page.evaluate(WATCH)
    page.focus("#text")
    page.evaluate("text => navigator.clipboard.writeText(text)", LONG)
    page.keyboard.press("Control+v")
    page.wait_for_selector("#entities-panel[aria-busy=true]")
    visit.wait_until_current()
    count = len(finder.find(LONG))
    assert f"{count:,} mentions" in page.inner_text("#status")

    reported = page.evaluate("progress")
    assert len(reported) > 3
    assert reported == sorted(reported)
    assert page.is_hidden("#working")

    assert 0 < page.locator("#highlights mark.entity").count() < count / 4  # those on the screen
    page.evaluate("pane.scrollTop = pane.scrollHeight")
    last = page.locator("#highlights > div").nth(-2).locator("mark.entity")
    last.first.wait_for(state="attached")
    assert last.last.text_content() == "Oslo"
    visit.set_threshold(0.5)
    # A frame is blocked for about a tenth of a second; the limit is for slow machines.
    assert max(page.evaluate("longTasks"), default=0) < 1500
    assert visit.errors == []
    page.close()
