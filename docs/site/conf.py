"""Settings of the documentation site: `make docs` builds it from docs/*.md and the docstrings.

The pages are plain Markdown that also reads well in the repository. The sections of index.md are
the navigation, and the reference pages are written from the public names of the packages.
"""

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))
from docstrings import to_restructured_text
from reference import REFERENCE, write_reference

import thresher

project = "Thresher"
version = release = thresher.__version__
extensions = ["mathml", "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
html_math_renderer = "mathml"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["site"]
html_theme = "furo"
html_title = "Thresher"
html_logo = "../../src/thresher/web/page/icon.svg"
html_favicon = html_logo
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#855700", "color-brand-content": "#855700"},
    "dark_css_variables": {"color-brand-primary": "#f0b440", "color-brand-content": "#f0b440"},
}
html_show_copyright = False
pygments_style = "friendly"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
suppress_warnings = ["misc.highlighting_failure"]  # blocks of output that no language describes

_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]+\)")  # links to files that the site does not have
_SECTION = re.compile(r"^## (.+)\n((?:\n|- .*\n)+)", re.MULTILINE)
_PAGE = re.compile(r"\]\(([\w-]+)\.md\)")


def read_page(app: Sphinx, name: str, source: list[str]) -> None:
    """Remove links to files outside docs/, and add the navigation to the first page."""
    text = _OUTSIDE.sub(r"\1", source[0])
    source[0] = text + navigation(text) if name == "index" else text


def navigation(index: str) -> str:
    """Return hidden tables of contents with the pages that the sections of index.md list."""
    sections = [(title, _PAGE.findall(pages)) for title, pages in _SECTION.findall(index)]
    sections.append(("Reference", [f"{REFERENCE}/index"]))
    return "".join(
        "\n```{toctree}\n:hidden:\n:caption: " + title + "\n\n" + "\n".join(pages) + "\n```\n"
        for title, pages in sections
    )


def read_docstring(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Convert the plain text of a docstring."""
    lines[:] = to_restructured_text(lines)


def setup(app: Sphinx) -> None:
    """Write the reference pages and connect the conversions."""
    write_reference(Path(app.srcdir) / REFERENCE)
    app.connect("source-read", read_page)
    app.connect("autodoc-process-docstring", read_docstring)
