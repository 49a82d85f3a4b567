"""The documentation site: every page is in its navigation, and docstrings are converted."""

import ast
import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module", autouse=True)
def site_modules():
    """Let the modules of the site be imported, as the generator does."""
    sys.path.insert(0, str(DOCS / "site"))
    yield
    sys.path.remove(str(DOCS / "site"))


def test_the_first_page_lists_every_page_once():
    listed = re.findall(
        r"^- \[.+?\]\((.+?)\)", (DOCS / "index.md").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(listed) == sorted(
        page.name for page in DOCS.glob("*.md") if page.name != "index.md"
    )


def test_the_settings_of_the_site_name_files_that_exist():
    syntax = ast.parse((DOCS / "site" / "conf.py").read_text("utf-8"))
    settings = {
        target.id: each.value.value
        for each in syntax.body
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant)
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    assert settings["html_theme"] == "furo"
    assert (DOCS / "site" / settings["html_logo"]).is_file()
    assert (DOCS / "site" / "static" / "site.css").is_file()


def test_the_reference_has_the_public_names():
    from reference import public_objects  # noqa: PLC0415 (a module of the site)

    pages = public_objects()
    assert {"thresher.entities", "thresher.lm", "thresher.text"} <= pages.keys()
    names = {name.rpartition(".")[2] for objects in pages.values() for name in objects}
    assert {"EntityFinder", "selfish_cross_entropy", "read_texts", "InputError"} <= names


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("Return `a` and **b**.", r"Return \ ``a``\  and \*\*b\*\*."),
        (
            "Return x.\n\nn: a number   m: `n` more",
            "Return x.\n\n- **n**: a number\n- **m**: \\ ``n``\\  more",
        ),
        (
            "Return x.\n\nn: a number\n    that is large",
            "Return x.\n\n- **n**: a number\n  that is large",
        ),
        ("The error: a number.", "The error: a number."),
        ("Return x.\n\n    a = b * c\n\nEnd.", "Return x.\n\n::\n\n    a = b * c\n\nEnd."),
        ("Return x.\n\n>>> f(*x)\n1", "Return x.\n\n>>> f(*x)\n1"),
    ],
)
def test_docstrings_are_converted(docstring, expected):
    from docstrings import to_restructured_text  # noqa: PLC0415 (a module of the site)

    assert "\n".join(to_restructured_text(docstring.split("\n"))).strip() == expected
