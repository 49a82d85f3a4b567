"""Extract the text of e-mail messages (.eml) and mailboxes (.mbox) with the standard library.

The text is the body; the subject, sender, recipients and date are fields. Attachments are not read.
"""

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import MessageError
from email.message import EmailMessage, MIMEPart
from email.policy import default
from typing import IO

from thresher.errors import InputError, WarningHandler
from thresher.text.extraction.extracted_text import MAX_BYTES, ExtractedText
from thresher.text.extraction.html import extract_html
from thresher.text.records import JsonObject

_FIELDS = ("subject", "from", "to", "cc", "date", "message-id")
_QUOTE = re.compile(r"^(?:> ?)+", re.MULTILINE)
_MAX_PARTS = 1000  # of a multipart message
_ENVELOPE = b"From "


def extract_message(data: bytes, *, name: str, number: int = 1) -> ExtractedText:
    """Return the plain text of a message, or else the text of its HTML, without marks of quotes.

    number: its first line in the file
    """
    if data.count(b"boundary") > _MAX_PARTS:
        raise InputError(f"{name} line {number}: the message has more than {_MAX_PARTS} parts")
    try:
        message = message_from_bytes(data, policy=default)
        assert isinstance(message, EmailMessage)
        body = message.get_body(("plain", "html"))
        text = "" if body is None else _content(body)
        if body is not None and body.get_content_type() == "text/html":
            text = extract_html(text).text
        fields = _header_fields(message)
    except InputError:
        raise
    except (MessageError, RecursionError, LookupError, ValueError, AttributeError) as error:
        raise InputError(f"{name} line {number}: not a readable e-mail message") from error
    text = _QUOTE.sub("", text.replace("\r\n", "\n"))
    return ExtractedText(text.strip(), fields, number)


def _content(body: MIMEPart) -> str:
    """Decode a body; an unknown or wrong charset is read as UTF-8 with U+FFFD for other bytes."""
    try:
        return str(body.get_content())
    except (LookupError, UnicodeError):
        raw = body.get_payload(decode=True)
        return raw.decode(errors="replace") if isinstance(raw, bytes) else str(raw)


def _header_fields(message: EmailMessage) -> JsonObject:
    values = {name: message.get(name) for name in _FIELDS}
    return {name: str(value) for name, value in values.items() if value is not None}


def mailbox_messages(
    stream: IO[bytes], *, name: str, on_problem: WarningHandler
) -> Iterator[ExtractedText]:
    """Yield the messages of a mailbox; each begins with a line "From …" after a blank line."""
    for number, data in _split_mailbox(stream, name):
        try:
            yield extract_message(data, name=name, number=number)
        except InputError as error:
            on_problem(str(error))


def _split_mailbox(stream: IO[bytes], name: str) -> Iterator[tuple[int, bytes]]:
    message: list[bytes] = []
    size, first, blank = 0, 1, True
    for number, line in enumerate(iter(lambda: stream.readline(MAX_BYTES), b""), 1):
        if blank and line.startswith(_ENVELOPE):
            if message:
                yield first, b"".join(message)
            message, size, first = [], 0, number
        else:
            message.append(line[1:] if re.match(rb">+From ", line) else line)
            size += len(line)
        if size > MAX_BYTES:
            raise InputError(
                f"{name} line {first}: the message has more than {MAX_BYTES >> 20} MiB"
            )
        blank = not line.strip()
    if message:
        yield first, b"".join(message)
