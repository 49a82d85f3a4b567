"""Join the documents of a corpus to the one text that a language model reads."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.atomic_files import write_file
from thresher.cli.errors import Problems
from thresher.cli.options import TextOptions
from thresher.cli.progress import ProgressBars
from thresher.text.sources import STANDARD_INPUT, find_sources
from thresher.work_folder import SOURCES, TEXT

if TYPE_CHECKING:
    from thresher.lm.tokens.text_file import TextFile
    from thresher.text.document import Document


def join_documents(documents: Iterable["Document"]) -> str:
    """Return one text: the blocks of each file unchanged, with a line end between documents.

    Half a surrogate pair, which JSON can contain, is replaced by a question mark.
    """
    return "".join(document_parts(documents))


def document_parts(documents: Iterable["Document"]) -> Iterator[str]:
    """Yield the parts of the text that `join_documents` returns."""
    last = "\n"
    for document in documents:
        if not document.offset and not last.endswith("\n"):
            yield "\n"
        last = document.text.encode(errors="replace").decode()
        yield last


def text_in_file(
    texts: TextOptions,
    problems: Problems,
    work_dir: Path,
    *,
    resume: bool,
    progress: ProgressBars,
) -> "TextFile":
    """Write the text of all sources to a file of the work folder, and return it.

    A resumed run uses the file of the run before, unless a source has changed since.
    """
    from thresher.lm.tokens.text_file import TextFile  # noqa: PLC0415 (numpy)

    path, record = work_dir / TEXT, work_dir / SOURCES
    state = json.dumps(_source_state(texts)).encode()
    unchanged = record.exists() and record.read_bytes() == state
    if resume and path.exists() and unchanged and STANDARD_INPUT not in texts.sources:
        return TextFile(path)
    written = TextFile.write(path, document_parts(progress.track(texts.read(problems), "text")))
    write_file(record, state)
    for name in work_dir.glob("*.ids.state"):
        name.unlink()  # the tokens of another text
    (work_dir / "tokens.json").unlink(missing_ok=True)
    return written


def _source_state(texts: TextOptions) -> list[object]:
    """Return what tells whether sources have changed: their names, sizes and times."""
    files = [Path(name) for name in find_sources(texts.sources) if name != STANDARD_INPUT]
    stats = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return [texts.sources, texts.format_, texts.field, texts.encoding, stats]
