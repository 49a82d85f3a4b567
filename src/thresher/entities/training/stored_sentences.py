"""Keep the sentences of a corpus in files while a finder is trained on them."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from thresher.gates.distributed import ProcessGroup
from thresher.text.sentence_store import SentenceStore
from thresher.work_folder import SENTENCES


@contextmanager
def stored_sentences(
    sentences: Iterable[Sequence[str]], work_dir: Path, processes: ProcessGroup
) -> Iterator[SentenceStore]:
    """Write sentences to the work folder, so that they need not fit in memory, and open them.

    The files are removed at the end. Of several processes only the main one reads `sentences` and
    writes the files; the others open them.
    """
    folder = work_dir / SENTENCES
    try:
        if processes.is_main:
            folder.mkdir(exist_ok=True)
            SentenceStore.write(folder, sentences)
        processes.wait()
        yield SentenceStore.open(folder)
    finally:
        if processes.is_main:
            shutil.rmtree(folder, ignore_errors=True)
