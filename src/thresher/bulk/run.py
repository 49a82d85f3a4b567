"""A run over blocks that leaves one file for each, and knows which are done.

    plan.json          what is asked, and every block; another question is refused
    part-00017.jsonl   the rows of block 17 with what was found in them
    done/00017.json    that this part is whole, with its counts and problems
    manifest.json      all of them, once every block is done

A part is written whole or not at all and always under the same name, and after it the note that it
is done. So whatever stops a run, the same command goes on with the blocks that are not done, and no
row is lost or there twice; doing a block again, as a cluster may, does no harm.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import thresher
from thresher.bulk.block_rows import Found, Rows, read_rows
from thresher.bulk.blocks import Block
from thresher.bulk.filesystems import names_under, read_whole, size_of, write_whole
from thresher.bulk.finder_choice import ModelChoice
from thresher.entities.built_in import folder_of
from thresher.errors import InputError, os_errors_as_input_errors
from thresher.text.annotations import Span

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder

FORMAT = 1
_TOLD = 100  # problems of a block that are written out; the rest is counted


@dataclass(frozen=True)
class Done:
    """What became of a block.

    rows: written   bad: rows without a text, and what was no row   failed: why nothing was written
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
    """What to find, where to put it, and how; small enough to be sent to every process.

    folder: a path or an address   text: the field or column   form: parquet or jsonl
    """

    folder: str
    model: ModelChoice
    text: str = "text"
    threshold: float | None = None
    form: str = "jsonl"

    def begin(self, blocks: Sequence[Block]) -> list[Block]:
        """The blocks that are still to be done; a folder that holds another run is refused."""
        plan = self._plan(blocks)
        found = read_whole(f"{self.folder}/plan.json")
        if found is None:
            if names_under(self.folder):
                raise InputError(f"{self.folder} is not empty; choose another folder")
            write_whole(f"{self.folder}/plan.json", plan)
        elif found != plan:
            raise InputError(
                f"{self.folder} holds what another command, or other input, found; "
                "choose another folder"
            )
        done = {Path(name).stem for name in self._notes()}
        return [block for block in blocks if f"{block.number:05}" not in done]

    def do(self, finder: "EntityFinder", block: Block) -> Done:
        """Find in a block and write what was found.

        A block that cannot be read, or whose rows do not go into the form, is told.
        """
        name = f"part-{block.number:05}.{self.form}"
        try:
            rows = read_rows(block, text=self.text)
            found = self._found(finder, rows)
            part = rows.to_parquet(found) if self.form == "parquet" else rows.to_jsonl(found)
        except InputError as error:
            return Done(block.number, block.source, name, failed=str(error))
        write_whole(f"{self.folder}/{name}", part)
        done = Done(
            block.number,
            block.source,
            name,
            rows=len(found),
            entities=sum(len(spans or ()) for spans in found),
            bad=len(rows.problems),
            problems=tuple(rows.problems[:_TOLD]),
        )
        write_whole(f"{self.folder}/done/{block.number:05}.json", _json(asdict(done)))
        return done

    def conclude(self) -> dict[str, Any]:
        """Write the manifest of a run whose blocks are all done."""
        notes = [json.loads(read_whole(name) or b"") for name in self._notes()]
        manifest = {
            "format": FORMAT,
            **{key: sum(each[key] for each in notes) for key in ("rows", "entities", "bad")},
            "parts": sorted(notes, key=lambda each: int(each["block"])),
        }
        write_whole(f"{self.folder}/manifest.json", _json(manifest))
        return manifest

    def _notes(self) -> list[str]:
        """The notes that blocks are done, and not what a process that was killed left of one."""
        return [name for name in names_under(f"{self.folder}/done") if name.endswith(".json")]

    def _found(self, finder: "EntityFinder", rows: Rows) -> Found:
        present = [text for text in rows.texts if text is not None]
        try:
            found = iter(list(finder.find_all(present, threshold=self.threshold)))
            return [None if text is None else next(found) for text in rows.texts]
        except Exception:  # one row must not stop the rest: which is it?
            return [
                None if text is None else self._found_alone(finder, text, place, rows)
                for text, place in zip(rows.texts, rows.places, strict=True)
            ]

    def _found_alone(
        self, finder: "EntityFinder", text: str, place: str, rows: Rows
    ) -> list[Span] | None:
        try:
            return finder.find(text, threshold=self.threshold)
        except Exception as error:
            rows.problems.append(f"{place}: {type(error).__name__}: {error}")
            return None

    def _plan(self, blocks: Sequence[Block]) -> bytes:
        sources = dict.fromkeys(block.source for block in blocks)
        return _json(
            {
                "format": FORMAT,
                "text": self.text,
                "threshold": self.threshold,
                "form": self.form,
                "model": _identity(self.model),
                "sources": {name: size_of(name) for name in sources},
                "blocks": [asdict(block) for block in blocks],
            }
        )


def _identity(model: ModelChoice) -> dict[str, Any]:
    """Which model and how it is used: the built-in one by its name, others by their description."""
    use = {"selector": model.selector, "exact": model.exact}
    if model.folder is None:
        return {"model": f"built-in, {thresher.__version__}"} | use
    with os_errors_as_input_errors(f"{model.folder} is not a model"):
        description = (folder_of(model.folder) / "config.json").read_bytes()
    return {"model": hashlib.sha256(description).hexdigest()} | use


def _json(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode(errors="replace")
