"""The address and the tab keep the state of the page; downloads and the clipboard get the list."""

import csv
import io
import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.web.page.conftest import Visit

from thresher.text import read_annotated, read_conll

TEXT = "Marie Curie moved to Paris. Nobody knew why Albert Einstein had left Marie Curie alone."


def fragment(visit) -> dict[str, list[str]]:
    visit.wait_for_address()
    return parse_qs(urlsplit(visit.page.url).fragment)


def test_a_link_opens_the_same_text_and_settings(visit, context):
    visit.type(TEXT)
    visit.page.select_option("#model", "two")
    visit.page.select_option("#selector", "1")
    visit.wait_until_current()
    visit.set_threshold(0.1)
    visit.page.locator("#kinds button", has_text="place").click()
    visit.page.check("#all-words")
    visit.page.locator("#examples summary").click()
    visit.wait_until_current()
    assert fragment(visit) == {
        "text": [TEXT], "model": ["two"], "selector": ["1"], "threshold": ["0.1"],
        "words": ["all"], "hide": ["place"],
    }  # fmt: skip
    shown = visit.rows()
    assert shown
    opened = Visit(context.new_page(), visit.page.url)
    opened.page.wait_for_selector("mark.entity")
    assert opened.rows() == shown
    assert opened.page.input_value("#text") == TEXT
    assert opened.page.input_value("#model") == "two"
    assert opened.page.is_checked("#all-words")
    assert not any("Curie" in url for url in opened.requests if "#" not in url)
    opened.page.close()


def test_example_names_are_in_the_address(visit):
    visit.type(TEXT)
    visit.page.locator("#examples summary").click()
    visit.page.fill("#example-names", "city: Paris, Boston")
    assert fragment(visit)["names"] == ["city: Paris, Boston"]
    visit.page.reload()
    visit.page.wait_for_selector("mark.entity", timeout=30_000)
    assert visit.page.input_value("#example-names") == "city: Paris, Boston"


def test_an_address_without_changes_has_no_fragment(visit):
    visit.type(TEXT)
    visit.page.click("#clear")
    assert fragment(visit) == {}


def test_a_changed_address_changes_the_page(visit, address):
    visit.type(TEXT)
    visit.page.goto(f"{address}/#text=Oslo+is+far.&threshold=0.2&model=none&selector=99")
    visit.page.wait_for_function(
        "() => document.getElementById('status').textContent.includes('1 entity')"
    )
    assert visit.entities() == ["Oslo"]
    assert visit.page.input_value("#threshold") == "0.2"
    assert visit.page.input_value("#model") == "english"


def test_a_long_text_is_kept_by_the_tab_and_not_in_the_address(visit):
    text = TEXT * 20
    visit.type(text)
    assert "text" not in fragment(visit)
    visit.page.reload()
    visit.page.wait_for_selector("mark.entity")
    assert visit.page.input_value("#text") == text


def downloaded(visit, selector: str, folder: Path) -> Path:
    with visit.page.expect_download() as waiting:
        visit.page.click(selector)
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_the_list_can_be_downloaded_and_copied_as_csv(visit, tmp_path):
    visit.type(f'{TEXT} She paid "Anna, Ltd" =Oslo')
    path = downloaded(visit, "#csv", tmp_path)
    assert path.name == "entities.csv"
    content = path.read_bytes().decode()
    rows = list(csv.DictReader(io.StringIO(content)))
    assert [(row["entity"], row["kind"], row["mentions"]) for row in rows] == visit.rows()
    assert all(0 < float(row["score"]) <= 1 for row in rows)
    visit.page.click("#copy")
    visit.page.wait_for_selector("#copied >> text=Copied")
    assert visit.page.evaluate("() => navigator.clipboard.readText()") == content


def test_csv_quotes_cells_and_disarms_formulas(visit):
    names = ["=1+2", 'a "b", c', "-x", "plain"]
    table = visit.page.evaluate(
        """async (names) => {
            const { toCsv } = await import("./exports.js");
            return toCsv(names.map((name) => ({ name, kind: null, mentions: [1], score: 0.5 })));
        }""",
        names,
    )
    cells = [row["entity"] for row in csv.DictReader(io.StringIO(table))]
    assert cells == ["'=1+2", 'a "b", c', "'-x", "plain"]


def test_downloads_contain_the_shown_mentions(visit, finder, tmp_path):
    visit.type(TEXT)
    visit.set_threshold(0.6)
    visit.page.locator("#kinds button", has_text="place").click()
    visit.page.click("#exports summary >> nth=0")
    spans = [span for span in finder.find(TEXT, threshold=0.6) if span.kind != "place"]
    texts = [span.text for span in spans]

    def file(name: str) -> Path:
        return downloaded(visit, f"#formats >> text={name}", tmp_path)

    record = json.loads(file("JSONL").read_text(encoding="utf-8"))
    assert [(s["start"], s["end"]) for s in record["spans"]] == [(s.start, s.end) for s in spans]
    rows = csv.DictReader(io.StringIO(file("CSV of mentions").read_text(encoding="utf-8")))
    assert [row["text"] for row in rows] == texts
    tagged = list(read_conll(file("CoNLL")))
    assert [" ".join(each.words[a:b]) for each in tagged for a, b in each.spans] == texts
    for name in ("Label Studio", "Prodigy", "doccano"):
        [read] = read_annotated(file(name), format=name.lower().replace(" ", "-"))
        assert (read.text, [span.text for span in read.spans]) == (TEXT, texts)
