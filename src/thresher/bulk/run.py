"""A bulk run: one output file for each block, and a record of the blocks that are done.

    plan.json          settings, blocks, and digests of model and input; others are rejected
    part-00017.jsonl   the rows of block 17 with the spans found in them
    done/00017.json    written after the part: its counts and problems
    manifest.json      a summary of all parts, once every block is done

A part is written atomically and always under the same name. Whatever stops a run, the same command
continues with the blocks that are not done, and no row is lost or duplicated. Processing a block
twice, as a cluster may do, is harmless.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import thresher
from thresher.atomic_files import is_temporary
from thresher.bulk.block_rows import Rows, SpansOfRows, read_rows
from thresher.bulk.blocks import Block
from thresher.bulk.filesystems import file_size, file_version, list_files, read_file, write_file
from thresher.bulk.finder_choice import FinderChoice
from thresher.entities.built_in import find_model_folder
from thresher.entities.finding.adaptation import Adaptation
from thresher.entities.finding.kind_filter import checked_kinds
from thresher.entities.model_config import date_expressions_config
from thresher.errors import InputError
from thresher.model_folder import CONFIG
from thresher.text.annotations import Span
from thresher.untrusted_files import MAX_CONFIG_BYTES, parse_json, read_regular

if TYPE_CHECKING:
    from thresher.entities.finding.text_finder import TextFinder

FORMAT_VERSION = 1
_MAX_PROBLEMS = 100  # of a block that are described; the others are only counted
_ENCODER_FILES = ("*.json", "*.safetensors", "*.txt", "*.model")


@dataclass(frozen=True)
class BlockResult:
    """The result of processing a block.

    block: its number   file: the name of the part
    rows: the number of rows written   bad: rows without a text, and lines that are not rows
    failed: why nothing was written; None if the block is done
    """

    block: int
    source: str
    file: str
    rows: int = 0
    entities: int = 0
    bad: int = 0
    problems: tuple[str, ...] = ()
    failed: str | None = None


@dataclass(frozen=True)
class BulkRun:
    """The finder, its options and the output of a run; small enough to be sent to every process.

    folder: a path or URL
    text_field: the field or column that contains the text
    threshold: the minimum score of an entity; None for the model's own
    only: the kinds of entities to keep; None for all
    encoding: that of text files; None for UTF-8, or what a web page states
    format: that of the parts, jsonl or parquet
    """

    folder: str
    finder_choice: FinderChoice
    text_field: str = "text"
    threshold: float | None = None
    format: str = "jsonl"
    only: tuple[str, ...] | None = None
    encoding: str | None = None

    def start(self, blocks: Sequence[Block]) -> list[Block]:
        """Write the plan and return the blocks that are not done yet.

        Raises InputError if the folder contains another run or other files.
        """
        plan = self._plan(blocks)
        existing = read_file(f"{self.folder}/plan.json")
        if existing is None:
            if not all(map(is_temporary, list_files(self.folder))):
                raise InputError(f"{self.folder} is not empty; choose another folder")
            write_file(f"{self.folder}/plan.json", plan)
        elif existing != plan:
            raise InputError(
                f"{self.folder} contains a run with other settings or other input, or another "
                "model; choose another folder"
            )
        done = {Path(name).stem for name in self._done_files()}
        return [block for block in blocks if f"{block.number:05}" not in done]

    def process(self, finder: "TextFinder", block: Block) -> BlockResult:
        """Find entities in a block and write its part.

        If the block cannot be read or written in this format, the result says why.
        """
        name = f"part-{block.number:05}.{self.format}"
        checked_kinds(self.only, finder.kinds)  # not in a row: it would be reported for each
        try:
            rows = read_rows(block, text_field=self.text_field, encoding=self.encoding)
            spans = self._find_spans(finder, rows)
            part = (
                rows.to_parquet(spans, with_kinds=bool(finder.kinds))
                if self.format == "parquet"
                else rows.to_jsonl(spans)
            )
        except InputError as error:
            return BlockResult(block.number, block.source, name, failed=str(error))
        write_file(f"{self.folder}/{name}", part)
        result = BlockResult(
            block.number,
            block.source,
            name,
            rows=len(spans),
            entities=sum(len(each or ()) for each in spans),
            bad=len(rows.problems),
            problems=tuple(rows.problems[:_MAX_PROBLEMS]),
        )
        write_file(f"{self.folder}/done/{block.number:05}.json", _to_json(asdict(result)))
        return result

    def write_manifest(self) -> dict[str, Any]:
        """Write and return the manifest of a run whose blocks are all done."""
        parts = [json.loads(read_file(name) or b"") for name in self._done_files()]
        manifest = {
            "format": FORMAT_VERSION,
            **{key: sum(each[key] for each in parts) for key in ("rows", "entities", "bad")},
            "parts": sorted(parts, key=lambda each: int(each["block"])),
        }
        write_file(f"{self.folder}/manifest.json", _to_json(manifest))
        return manifest

    def _done_files(self) -> list[str]:
        """Return the files in done/ without the temporary files of killed processes."""
        return [name for name in list_files(f"{self.folder}/done") if name.endswith(".json")]

    def _find_spans(self, finder: "TextFinder", rows: Rows) -> SpansOfRows:
        texts = [text for text in rows.texts if text is not None]
        try:
            found = iter(list(finder.find_all(texts, threshold=self.threshold, only=self.only)))
            return [None if text is None else next(found) for text in rows.texts]
        except Exception:  # find out which row fails; it must not stop the others
            return [
                None if text is None else self._find_in_row(finder, text, location, rows)
                for text, location in zip(rows.texts, rows.locations, strict=True)
            ]

    def _find_in_row(
        self, finder: "TextFinder", text: str, location: str, rows: Rows
    ) -> list[Span] | None:
        try:
            return finder.find(text, threshold=self.threshold, only=self.only)
        except Exception as error:
            rows.problems.append(f"{location}: {type(error).__name__}: {error}")
            return None

    def _plan(self, blocks: Sequence[Block]) -> bytes:
        sources = dict.fromkeys(block.source for block in blocks)
        return _to_json(
            {
                "format": FORMAT_VERSION,
                "text": self.text_field,
                "threshold": self.threshold,
                **({} if self.only is None else {"only": self.only}),
                **({} if self.encoding is None else {"encoding": self.encoding}),
                "form": self.format,
                "model": model_identity(self.finder_choice),
                "sources": {name: file_identity(name) for name in sources},
                "blocks": [block.to_json() for block in blocks],
            }
        )


def _to_json(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode(errors="replace")


def file_identity(name: str) -> dict[str, Any]:
    """Return the size of a file and a string that changes with its content."""
    return {"bytes": file_size(name), "version": file_version(name)}


def model_identity(choice: FinderChoice) -> dict[str, Any]:
    """Return what identifies a model, its encoder and how it is used.

    The config of a model has the digests of the model's files. The built-in model is identified by
    the version of this package.
    """
    use: dict[str, Any] = {"selector": choice.selector, "exact": choice.exact}
    if choice.rules is not None:
        use["rules"] = {"always": choice.rules.always, "never": choice.rules.never}
    if choice.kinds is not None:
        use["kinds"] = choice.kinds if isinstance(choice.kinds, str) else dict(choice.kinds.names)
    if choice.adaptations:
        values = [_sorted(each) for _, each in sorted(choice.adaptations.items())]
        use["adaptation"] = hashlib.sha256(repr(values).encode()).hexdigest()
    if len(choice.parts) > 1:
        return {"models": [model_identity(each) for each in choice.parts]}
    if choice.folder is None or choice.is_auto:
        return {"model": f"{choice.folder or 'built-in'}, {thresher.__version__}"} | use
    if choice.is_onnx:
        return {"model": file_version(str(choice.folder))} | use
    folder = find_model_folder(choice.folder)
    path = folder / CONFIG
    if not path.exists():
        raise InputError(f"{choice.folder} is not a model: it has no {CONFIG}")
    content = read_regular(path, max_bytes=MAX_CONFIG_BYTES)
    identity = {"model": hashlib.sha256(content).hexdigest()}
    config = parse_json(content, str(path))
    encoder = _encoder_folder(config, folder) if isinstance(config, dict) else None
    return identity | ({} if encoder is None else {"encoder": _folder_digest(encoder)}) | use


def _sorted(adaptation: Adaptation) -> tuple[object, ...]:
    """Return the values of an adaptation in an order that does not change between processes."""
    values = adaptation
    dates = values.date_expressions and date_expressions_config(values.date_expressions)
    return (values.signal_weights, values.threshold, sorted(values.ordinary), values.words, dates)


def _encoder_folder(config: dict[str, Any], model: Path) -> Path | None:
    """Return the folder of a model's encoder; None for one of the Hub or inside the model."""
    name = config.get("encoder")
    if not isinstance(name, str) or not name:
        return None
    return next(
        (each for each in (Path(name), model.parent / Path(name).name) if each.is_dir()), None
    )


def _folder_digest(folder: Path) -> str:
    """Return a digest of the names and contents of an encoder's files."""
    digest = hashlib.blake2b(digest_size=32)
    for path in sorted({each for pattern in _ENCODER_FILES for each in folder.glob(pattern)}):
        digest.update(f"{path.name} {file_version(str(path))}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()
