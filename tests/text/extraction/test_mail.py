"""The body of a message is its text, and its headers are fields."""

import io
from email.message import EmailMessage

import pytest

from thresher.errors import InputError
from thresher.text.extraction.mail import extract_message, mailbox_messages


def message(text="Anna met Lars.\n\n> Quoted Bob\n>> and Carol\n", html=None):
    new = EmailMessage()
    new["Subject"] = "Réunion à Oslo"
    new["From"] = "Anna Berg <anna@example.org>"
    new["Date"] = "Mon, 06 May 2024 10:00:00 +0200"
    new.set_content(text)
    if html:
        new.add_alternative(html, subtype="html")
    return new


def test_plain_text_is_preferred_and_quotes_lose_their_marks():
    extracted = extract_message(message(html="<p>Other</p>").as_bytes(), name="a.eml")
    assert extracted.text == "Anna met Lars.\n\nQuoted Bob\nand Carol"
    assert extracted.fields["subject"] == "Réunion à Oslo"
    assert extracted.fields["from"] == "Anna Berg <anna@example.org>"
    assert "2024" in extracted.fields["date"]


def test_a_message_of_html_only_is_reduced_to_its_text():
    new = EmailMessage()
    new.set_content("<p>Anna &amp; Lars</p><script>x</script>", subtype="html")
    assert extract_message(new.as_bytes(), name="a.eml").text == "Anna & Lars"


def test_attachments_are_not_read():
    new = message()
    new.add_attachment(b"Secret Acme", maintype="application", subtype="pdf", filename="a.pdf")
    assert "Acme" not in extract_message(new.as_bytes(), name="a.eml").text


def test_encoded_bodies_and_unknown_charsets_are_read():
    raw = b"Subject: x\nContent-Type: text/plain; charset=nonsense\n\ncaf\xc3\xa9 Anna\n"
    assert extract_message(raw, name="a.eml").text == "café Anna"
    raw = (b"Subject: x\nContent-Type: text/plain; charset=utf-8\n"
           b"Content-Transfer-Encoding: base64\n\nQW5uYSBCZXJn\n")  # fmt: skip
    assert extract_message(raw, name="a.eml").text == "Anna Berg"


def test_a_mailbox_is_read_message_by_message_with_line_numbers():
    texts = [message(f"Text {i}.\n>From here.\n").as_bytes() for i in range(3)]
    box = b"".join(b"From anna Mon May  6 10:00:00 2024\n" + text + b"\n" for text in texts)
    found = list(mailbox_messages(io.BytesIO(box), name="a.mbox", on_problem=pytest.fail))
    assert [each.text for each in found] == [f"Text {i}.\nFrom here." for i in range(3)]
    lines = box.split(b"\n")
    assert all(lines[each.number - 1].startswith(b"From anna") for each in found)


def test_a_message_with_too_many_parts_is_refused_in_one_line():
    nested = "".join(
        f"Content-Type: multipart/mixed; boundary=b{i}\n\n--b{i}\n" for i in range(2000)
    )
    with pytest.raises(InputError, match=r"a.eml line 1: the message has more than 1000 parts$"):
        extract_message(nested.encode(), name="a.eml")
    with pytest.raises(InputError, match=r"not a readable|parts"):
        extract_message((nested[: len(nested) // 3]).encode() * 2, name="a.eml")


@pytest.mark.parametrize(
    "raw", [b"", b"\n", b"\xff\xfe", b"Content-Type: multipart/mixed\n\n", b"From: =?x?q?\n\nhi"]
)
def test_anything_is_a_message(raw):
    assert extract_message(raw, name="a.eml").text.strip() in ("", "hi", "\ufffd\ufffd")
