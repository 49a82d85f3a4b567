"""Prepare a text for training: split it, learn or load its tokenizer, encode its parts.

With a work folder everything is kept in files, so that the memory does not grow with the text, a
stopped run continues where it was, and other processes find what the first one has prepared.
"""

from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from thresher.atomic_files import write_file
from thresher.lm.choices import TokenizerKind
from thresher.lm.tokens.encoding import EncodedText, encode_text
from thresher.lm.tokens.factory import learn_tokenizer, tokenizer_from_json
from thresher.lm.tokens.text_file import TextFile
from thresher.lm.tokens.tokenizer import Tokenizer
from thresher.lm.training.splits import TextSplits, split_text
from thresher.lm.training.state import TrainingData
from thresher.progress import ProgressReporter, SilentProgress
from thresher.training_processes import SINGLE_PROCESS, Processes
from thresher.work_folder import other_run_error

TOKENIZER = "tokens.json"
PARTS = ("train", "validation", "test")


@dataclass(frozen=True)
class TokenizedCorpus:
    """A text that is ready for training.

    test: the token ids of the test part   test_text: its text
    """

    tokenizer: Tokenizer
    data: TrainingData
    test: Tensor
    test_text: str


def tokenize_corpus(
    text: str | TextFile,
    *,
    tokenizer: str | Tokenizer = TokenizerKind.CHARACTERS,
    vocabulary: int | None = None,
    work_dir: Path | None = None,
    resume: bool = False,
    processes: Processes = SINGLE_PROCESS,
    progress: ProgressReporter | None = None,
) -> TokenizedCorpus:
    """Split a text, learn the tokenizer from the training part, and encode all parts.

    tokenizer: a `TokenizerKind`, or a tokenizer that exists already
    work_dir: a folder for the tokenizer and the token ids; by default they are held in memory
    resume: use what an interrupted run has left in `work_dir`; a text in memory is encoded again
    """
    progress = progress or SilentProgress()
    splits = split_text(text)
    in_file = isinstance(text, TextFile) and work_dir is not None
    with processes.main_first() as is_main:
        if not (in_file or is_main):
            work_dir = None  # the main process has written the files
        resume = in_file and (resume or not is_main)
        on_progress = progress.stage("tokens", len(text))  # shown while the tokenizer is learned
        learned = _tokenizer(text, splits, tokenizer, vocabulary, work_dir, resume=resume)
        encoded: dict[str, EncodedText] = {
            name: encode_text(
                learned,
                getattr(splits, name),
                path=None if work_dir is None else work_dir / f"{name}.ids",
                resumable=in_file,
                resume=resume,
                on_progress=on_progress,
            )
            for name in PARTS
        }
    train = encoded["train"]
    data = TrainingData(train.ids, encoded["validation"].ids, train.counts)
    return TokenizedCorpus(learned, data, encoded["test"].ids, str(splits.test))


def _tokenizer(
    text: str | TextFile,
    splits: TextSplits,
    tokenizer: str | Tokenizer,
    vocabulary: int | None,
    work_dir: Path | None,
    *,
    resume: bool,
) -> Tokenizer:
    """Return the tokenizer; with a work folder, learn it only once."""
    if not isinstance(tokenizer, str):
        return tokenizer
    path = None if work_dir is None or isinstance(text, str) else work_dir / TOKENIZER
    if resume and path is not None and path.exists():
        saved = tokenizer_from_json(path.read_text(encoding="utf-8"))
        if saved.kind != tokenizer or vocabulary not in (None, saved.vocabulary):
            kind = f"a tokenizer of kind {saved.kind} with {saved.vocabulary:,} tokens"
            raise other_run_error(path, kind)
        return saved
    all_characters = tokenizer == TokenizerKind.CHARACTERS
    learned = learn_tokenizer(
        tokenizer, text if all_characters else splits.train, vocabulary=vocabulary
    )
    if path is not None:
        write_file(path, learned.to_json().encode())
    return learned
