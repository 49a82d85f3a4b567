"""Which elements of an HTML page are text, and which are navigation, scripts or other extras."""

import re

VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup html legend li main menu nav ol "
    "p pre section summary table tbody td tfoot th thead tr ul".split()
)
# An element of these kinds ends an open one of the same kind: its end tag may be omitted.
SELF_ENDING = frozenset("dd dt li option p td th tr".split())

_NOT_TEXT = frozenset(
    "audio button canvas datalist dialog embed iframe map math menu nav noscript object option "
    "script select style svg template textarea video".split()
)
_NOT_TEXT_ROLES = frozenset(
    "alertdialog banner complementary contentinfo dialog menu menubar navigation search "
    "toolbar tooltip".split()
)
_PAGE_PARTS = frozenset(["aside", "footer", "header"])
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")
_CODE = re.compile(r"(?:^|\s)(?:code|codehilite|highlight|prettyprint|sourcecode)(?=$|[\s_-])")
_EXTRAS = re.compile(
    r"(?:^|\s)(?:ad|ads|advert|advertisement|breadcrumbs?|comments?|consent|cookies?|footer|menu|"
    r"nav|navbar|navigation|newsletter|pagination|pager|popup|promo|related|share|sharing|sidebar|"
    r"skip|social|sponsored|subscribe|toolbar|widget)(?=$|[\s_-])"
)

_PROSE = re.compile(r"(?:\b[^\W\d_A-Z]+,? +){3}[^\W\d_A-Z]+\b")  # four words in lower case

Attributes = dict[str, str]


def is_not_text(tag: str, attributes: Attributes, *, in_content: bool) -> bool:
    """Return True for an element that is never part of the text of a page.

    in_content: whether the element is inside <main> or <article>, which have headers of their own
    """
    if tag in _NOT_TEXT or (tag in _PAGE_PARTS and not (in_content and tag == "header")):
        return True
    return (
        attributes.get("role", "").lower() in _NOT_TEXT_ROLES
        or "hidden" in attributes
        or attributes.get("aria-hidden", "").lower() == "true"
        or _HIDDEN.search(attributes.get("style", "").lower()) is not None
    )


def is_code_box(attributes: Attributes) -> bool:
    """Return True for an element whose class says that it contains source code."""
    return _CODE.search(attributes.get("class", "").lower()) is not None


def is_listing(text: str) -> bool:
    """Return True for preformatted text that is code or a list of values, and has no sentence.

    Letters in the archives of mailing lists are preformatted, too, and have sentences.
    """
    return text.isascii() and _PROSE.search(text) is None


def is_extra(tag: str, attributes: Attributes) -> bool:
    """Return True if class or id suggest navigation, advertisements or comments."""
    if tag in ("html", "body", "main", "article"):
        return False
    return any(
        _EXTRAS.search(attributes[name].lower()) for name in ("class", "id") if name in attributes
    )
