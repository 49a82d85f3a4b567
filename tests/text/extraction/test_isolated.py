"""PDF and DOCX files are read in a child process; hostile ones give one line."""

import io
import sys
import zipfile

import pytest

from thresher.errors import InputError
from thresher.text.choices import TextFormat
from thresher.text.extraction import docx as docx_reader
from thresher.text.extraction import isolated
from thresher.text.extraction.isolated import extract_in_child
from thresher.text.extraction.pdf import join_pages


def pdf_of(*pages):
    """Return a PDF file with one line of text for each line of each page."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    kids = []
    for page in pages:
        lines = " ".join(f"({line}) Tj 0 -14 Td" for line in page.split("\n"))
        content = f"BT /F1 12 Tf 50 700 Td {lines} ET".encode()
        number = len(objects) + 1
        kids.append(number)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (number + 1)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    refs = " ".join(f"{number} 0 R" for number in kids)
    objects[1] = f"<< /Type /Pages /Kids [{refs}] /Count {len(kids)} >>".encode()
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, table)
    return bytes(out)


def docx_of(add):
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.core_properties.title = "A trip"
    document.core_properties.author = ""
    add(document)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def read(data, text_format):
    return extract_in_child(io.BytesIO(data), text_format, name="a")


def test_the_text_of_a_pdf_is_read():
    pytest.importorskip("pypdf")
    data = pdf_of("Anna Berg met Lars in Os-\nlo last week.", "They left.")
    assert read(data, TextFormat.PDF).text == "Anna Berg met Lars in Oslo last week.\n\nThey left."


def test_an_encrypted_pdf_is_refused():
    pypdf = pytest.importorskip("pypdf")
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf_of("Anna")))
    writer.encrypt("secret", algorithm="RC4-128")
    file = io.BytesIO()
    writer.write(file)
    with pytest.raises(
        InputError, match=r"^a is an encrypted PDF file; save it without a password"
    ):
        read(file.getvalue(), TextFormat.PDF)


def test_paragraphs_and_cells_of_a_docx_are_read_in_order():
    def add(document):
        document.add_heading("Trip", 1)
        document.add_paragraph("Anna ").add_run("Berg").bold = True
        table = document.add_table(1, 2)
        table.cell(0, 0).text, table.cell(0, 1).text = "Lars", "Oslo"
        document.add_paragraph("Home.")

    extracted = read(docx_of(add), TextFormat.DOCX)
    assert extracted.text == "Trip\n\nAnna Berg\n\nLars\n\nOslo\n\nHome."
    assert extracted.fields == {"title": "A trip"}


@pytest.mark.parametrize("text_format", [TextFormat.PDF, TextFormat.DOCX])
@pytest.mark.parametrize("data", [b"", b"%PDF-1.7\n", b"PK\x03\x04" + b"x" * 100, b"\x00" * 1000])
def test_damaged_files_are_refused_in_one_line(text_format, data):
    pytest.importorskip({"pdf": "pypdf", "docx": "docx"}[text_format])
    with pytest.raises(
        InputError, match=rf"^a is not a readable {text_format.upper()} file"
    ) as raised:
        read(data, text_format)
    assert "\n" not in str(raised.value)


def test_a_zip_bomb_is_refused_before_it_is_expanded(monkeypatch):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", b"<x/>")
        archive.writestr("word/document.xml", b" " * (1 << 20))
    monkeypatch.setattr(docx_reader, "_MAX_UNCOMPRESSED", 1 << 19)
    with pytest.raises(
        InputError, match=r"^a has 1 MiB of uncompressed content; at most 0 are read"
    ):
        docx_reader.extract_docx(file, name="a")


def test_a_bomb_of_xml_entities_is_refused():
    bomb = (
        '<!DOCTYPE x [<!ENTITY a "'
        + "x" * 1000
        + '">'
        + "".join(
            f'<!ENTITY a{i} "{"&a;" * 100 if i == 0 else f"&a{i - 1};" * 100}">' for i in range(6)
        )
        + "]>"
    )
    data = docx_of(lambda document: document.add_paragraph("Anna"))
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        for member in old.infolist():
            content = old.read(member)
            if member.filename == "word/document.xml":
                content = content.replace(
                    b"<w:document", bomb.encode() + b"<w:document", 1
                ).replace(b"Anna", b"Anna &a5;")
            new.writestr(member, content)
    with pytest.raises(InputError, match=r"^a is not a readable DOCX file: .*entity"):
        read(file.getvalue(), TextFormat.DOCX)


def test_a_reader_that_takes_too_long_or_too_much_memory_is_stopped(monkeypatch):
    pytest.importorskip("pypdf")
    monkeypatch.setattr(isolated, "SECONDS", 0.01)
    with pytest.raises(InputError, match=r"^a takes longer than 0 s to read"):
        read(pdf_of("Anna"), TextFormat.PDF)


@pytest.mark.parametrize(("text_format", "package"), [("pdf", "pypdf"), ("docx", "docx")])
def test_without_the_extra_the_error_names_the_pip_command(text_format, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"pip install .*\[{text_format}\]"):
        read(b"", TextFormat(text_format))


def test_headers_footers_and_page_numbers_are_left_out_and_paragraphs_continue():
    pages = [f"Acme Report {i}\nAnna met\nLars {i}.\n{i}" for i in range(1, 4)]
    assert join_pages(pages) == "Anna met\nLars 1.\n\nAnna met\nLars 2.\n\nAnna met\nLars 3."
    assert join_pages(["Anna met", "the Bergs."]) == "Anna met\nthe Bergs."
