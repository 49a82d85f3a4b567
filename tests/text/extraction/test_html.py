"""Pages are reduced to their main text, in linear time, whatever they contain."""

import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text.extraction.html import decode_html, extract_html
from thresher.text.extraction.html_tokens import Tag, html_tokens


def text_of(page):
    return extract_html(page).text


def test_references_are_decoded_and_blocks_are_separated_by_blank_lines():
    page = "<h1>Ren&eacute;e &amp; J&#252;rgen</h1><p>In <b>S&atilde;o</b>&nbsp;<a>Paulo</a>."
    page += "<br>Then<p>home"
    assert text_of(page) == "Renée & Jürgen\n\nIn São Paulo.\nThen\n\nhome"


@pytest.mark.parametrize(
    "extra",
    [
        "<script>var Paris = '<p>x</p>';</script>",
        "<style>p { Color: Red }</style>",
        "<nav><ul><li><a href=/>Paris Home</a></ul></nav>",
        "<footer>Acme Corporation</footer>",
        "<aside>Advertisement by Acme</aside>",
        "<header><a>Acme News</a></header>",
        '<div role="navigation">Acme Menu</div>',
        '<div class="cookie-banner">Acme uses cookies</div>',
        "<p hidden>Secret Acme</p>",
        '<p style="display: none">Secret Acme</p>',
        "<pre><code>Acme.Run()</code></pre>",
        '<div class="highlight"><pre>Acme.Run()</pre></div>',
        "<pre>Acme = Run\nParis = Acme Corp</pre>",
        "<noscript>Turn on JavaScript</noscript>",
        "<svg><title>Acme Logo</title><text>Acme</text></svg>",
        "<!-- Acme Comment <p> -->",
        "<button>Subscribe Now</button><select><option>Acme</select>",
    ],
)
def test_what_is_not_text_is_left_out(extra):
    page = f"<title>T</title><body><p>Anna met Lars in Oslo last week.</p>{extra}<p>They left.</p>"
    assert text_of(page) == "Anna met Lars in Oslo last week.\n\nThey left."


@pytest.mark.parametrize("element", ["main", "article"])
def test_only_the_main_part_is_read_if_there_is_one(element):
    content = "<header><h1>Anna</h1></header><p>Lars left Oslo.</p>"
    page = f"<div>Site of Acme</div><{element}>{content}</{element}>"
    assert text_of(page) == "Anna\n\nLars left Oslo."


def test_a_menu_without_any_mark_is_a_row_of_links():
    links = "".join(f"<li><a href=x>Acme {i}</a></li>" for i in range(5))
    assert text_of(
        f"<ul>{links}</ul><p>Anna met <a href=y>Lars</a> in Oslo, and they left.</p>"
    ) == ("Anna met Lars in Oslo, and they left.")


def test_cells_and_items_are_blocks_and_line_breaks_of_pre_stay():
    assert text_of("<table><tr><td>Anna<td>Oslo<tr><td>Lars</table>") == "Anna\n\nOslo\n\nLars"
    assert text_of("<ul><li>Anna<li>Lars</ul>") == "Anna\n\nLars"
    assert text_of("<pre>Anna\n  Lars</pre>") == "Anna\n  Lars"
    letter = "<p>Archive<pre>Anna wrote that she will come to Oslo.\n  Lars</pre>"
    assert text_of(letter).endswith("come to Oslo.\n  Lars")


def test_the_title_is_a_field():
    assert extract_html("<title>A &amp;\n B</title><p>x").fields == {"title": "A & B"}
    assert extract_html("<p>x").fields == {}


@pytest.mark.parametrize(
    ("page", "encoding", "text"),
    [
        ("<meta charset=utf-8><p>é".encode(), None, "é"),
        ("<meta charset='iso-8859-1'><p>é".encode("latin-1"), None, "é"),
        ('<meta content="text/html; charset=windows-1251"><p>Анна'.encode("cp1251"), None, "Анна"),
        ("<p>é".encode("latin-1"), "latin-1", "é"),
        ("<p>é".encode("utf-16"), None, "é"),
        ("<meta charset=zip><p>é".encode(), None, "é"),
        ("<meta charset=punycode><p>é".encode(), None, "é"),
    ],
)  # fmt: skip
def test_the_charset_is_given_or_stated_or_utf_8(page, encoding, text):
    decoded = decode_html(page, name="x", encoding=encoding, on_problem=pytest.fail)
    assert text_of(decoded) == text


def test_wrong_bytes_are_reported():
    problems = []
    page = decode_html(b"<p>caf\xe9", name="x", encoding=None, on_problem=problems.append)
    assert text_of(page) == "caf\ufffd"
    assert len(problems) == 1


class Peer(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append(("start", tag, {key: value or "" for key, value in reversed(attrs)}))

    def handle_endtag(self, tag):
        self.found.append(("end", tag))

    def handle_data(self, data):
        if self.found and isinstance(self.found[-1], str):
            self.found[-1] += data
        else:
            self.found.append(data)


PIECES = st.sampled_from(
    ["<p>", "</p>", '<a href="x y" CLASS=b>', "<br/>", "text ", "&amp;", "a < b", "<!-- c -->",
     "<b x='1>2'>", "<script>a<b</script>", "é"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12))
def test_valid_pages_have_the_tokens_of_the_parser_of_python(pieces):
    page = "".join(pieces)
    peer = Peer()
    peer.feed(page)
    peer.close()
    found = []
    for token in html_tokens(page):
        if isinstance(token, Tag):
            kind = ("end", token.name) if token.is_end else ("start", token.name, token.attributes)
            found.append(kind)
        elif token and found and isinstance(found[-1], str):
            found[-1] += token
        elif token:
            found.append(token)
    starts = [each for each in peer.found if each != ("end", "br")]
    assert found == starts


@given(st.text(alphabet="<>/!-?ab= \"'&#;x1\n"))
def test_anything_is_a_page(page):
    text = extract_html(page).text
    assert len(text) <= len(page)
    if not set(page) & set("<&"):
        assert text.split() == page.split()


@pytest.mark.parametrize(
    "unit",
    ["<div>", "<", "<a ", "<!--", "<!", "&", "</", "<?", "<a x='", "<script>", "&#", "<tr><td>x"],
)
def test_hostile_pages_take_linear_time(unit):
    def seconds(count):
        start = time.process_time()
        extract_html(unit * count)
        return time.process_time() - start

    assert seconds(40_000) < 0.5 + 40 * seconds(4_000)


def test_references_with_too_many_digits_are_left_as_they_are():
    assert text_of("<p>&#" + "9" * 5000).startswith("&#999")
