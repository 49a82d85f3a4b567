"""Links of README, CHANGELOG, CONTRIBUTING and docs/, and paths of modules, lead somewhere."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
CODE_OR_MATHS = re.compile(r"^```.*?^```$|\$[^$]*\$", re.MULTILINE | re.DOTALL)
MODULE = re.compile(r"`((?:\w+/)+\w+\.py|\w+/(?:\w+/)+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(page: Path) -> str:
    return CODE_OR_MATHS.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


def test_links_lead_to_files_and_headings_that_exist():
    links = [(page, link) for page in PAGES for link in LINK.findall(prose(page))]
    local = [(page, link) for page, link in links if "://" not in link]
    assert len(local) > 50
    assert [(page.name, link) for page, link in local if not leads_somewhere(page, link)] == []


def test_modules_that_pages_name_exist():
    pages = [page for page in PAGES if page.name != "log.md"]  # it describes older versions, too
    named = {(page.name, path) for page in pages for path in MODULE.findall(prose(page))}
    assert len(named) > 50
    roots = (ROOT, ROOT / "src/thresher", ROOT / "tests")
    missing = [each for each in named if not any((root / each[1]).exists() for root in roots)]
    assert sorted(missing) == []
