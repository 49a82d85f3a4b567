"""thresher find --engine: process many files in blocks, on one or several machines."""

from collections.abc import Sequence
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.atomic_files import check_can_write
from thresher.bulk.finder_choice import FinderChoice
from thresher.cli.entities.find_options import FindTextOptions
from thresher.cli.errors import Problems, print_note
from thresher.cli.progress import print_remark, progress_bars
from thresher.errors import InputError
from thresher.output_lock import lock_output
from thresher.text.sources import STANDARD_INPUT

if TYPE_CHECKING:
    from thresher.bulk.blocks import Block
    from thresher.bulk.run import BulkRun

BULK_FORMATS = ("jsonl", "parquet")


class Engine(StrEnum):
    """The library that distributes blocks over processes and machines."""

    RAY = "ray"


def find_in_bulk(
    texts: FindTextOptions,
    output: str | None,
    *,
    finder: FinderChoice,
    to: str | None,
    threshold: float | None,
    only: tuple[str, ...] | None,
    workers: int | None,
    quiet: bool,
) -> None:
    """Find entities in all unfinished blocks; then write the manifest."""
    if output is None:
        raise InputError("`engine` writes many files; give a folder for them as `output`")
    if to not in (None, *BULK_FORMATS):
        raise InputError(f"`engine` writes {' or '.join(BULK_FORMATS)}, got `to` {to}")
    sources = texts.files()
    if STANDARD_INPUT in sources or not sources:
        raise InputError("`engine` reads files, not standard input")
    from thresher.bulk.block_rows import require_splittable  # noqa: PLC0415
    from thresher.bulk.blocks import plan_blocks  # noqa: PLC0415
    from thresher.bulk.filesystems import find_files, is_remote  # noqa: PLC0415 (pyarrow)
    from thresher.bulk.run import BulkRun  # noqa: PLC0415

    folder = output.rstrip("/") if is_remote(output) else str(Path(output).resolve())
    # Files that this command has written itself are not read.
    files = find_files(sources, on_skipped=print_note)
    names = [name for name in files if not name.startswith(f"{folder}/")]
    blocks = plan_blocks(names, format=texts.format_)
    if not blocks:
        raise InputError(f"no text in {sources[0]}")
    form = to or ("parquet" if all(each.format == "parquet" for each in blocks) else "jsonl")
    encoding = None if texts.encoding is None else require_splittable(texts.encoding)
    run = BulkRun(
        folder, finder.with_absolute_folder(), texts.field, threshold, form, only, encoding
    )
    with nullcontext() if is_remote(folder) else lock_output(Path(folder)):
        _process(run, blocks, workers=workers, output=output, quiet=quiet)


def _process(
    run: "BulkRun", blocks: "Sequence[Block]", *, workers: int | None, output: str, quiet: bool
) -> None:
    """Process the blocks that are not done, and write the manifest if none failed."""
    from thresher.bulk.filesystems import is_remote  # noqa: PLC0415 (pyarrow)
    from thresher.integrations.ray import find_in_blocks  # noqa: PLC0415

    problems = Problems()
    if not is_remote(run.folder):
        check_can_write(Path(run.folder))
    todo = run.start(blocks)
    failed = 0
    if todo:
        with progress_bars(quiet=quiet) as progress:
            count = progress.stage("finding", len(todo))
            for done in find_in_blocks(run, todo, workers=workers):
                failed += done.failed is not None
                for each in (done.failed,) if done.failed else done.problems:
                    problems(each)
                if done.bad > len(done.problems):
                    problems(f"{done.source}: {done.bad - len(done.problems):,} more such rows")
                count(1)
    if not failed:
        manifest = run.write_manifest()
        amounts = f"{manifest['entities']:,} entities in {manifest['rows']:,} rows"
        print_remark(f"{amounts} and {len(blocks):,} parts in {output}", quiet=quiet)
    problems.exit_if_any()
