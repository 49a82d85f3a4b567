"""thresher find --engine: many files in blocks, on one machine or many."""

from pathlib import Path

from thresher.bulk.finder_choice import ModelChoice
from thresher.cli.errors import Problems
from thresher.cli.progress import remark, shown
from thresher.errors import InputError
from thresher.text.sources import STANDARD_INPUT

ENGINES = ("ray",)
BULK_FORMATS = ("jsonl", "parquet")


def find_in_bulk(
    sources: list[str],
    output: str | None,
    *,
    model: ModelChoice,
    from_: str | None,
    to: str | None,
    field: str,
    threshold: float | None,
    workers: int | None,
    quiet: bool,
) -> None:
    """Find in every block that is not done yet; the folder says at the end that all are."""
    if output is None:
        raise InputError("--engine writes many files: name a folder for them with -o")
    if to not in (None, *BULK_FORMATS):
        raise InputError(f"--engine writes {' or '.join(BULK_FORMATS)}; got --to {to}")
    if STANDARD_INPUT in sources:
        raise InputError("--engine reads files; standard input is none")
    from thresher.bulk.blocks import planned  # noqa: PLC0415
    from thresher.bulk.filesystems import find_places, is_remote  # noqa: PLC0415 (pyarrow; not for help)
    from thresher.bulk.run import BulkRun  # noqa: PLC0415
    from thresher.integrations.ray import find_in_blocks  # noqa: PLC0415

    folder = output.rstrip("/") if is_remote(output) else str(Path(output).resolve())
    names = [name for name in find_places(sources) if not name.startswith(f"{folder}/")]
    blocks = planned(names, form=from_)  # not of what this very command has written
    if not blocks:
        raise InputError(f"no text in {sources[0]}")
    form = to or ("parquet" if all(each.form == "parquet" for each in blocks) else "jsonl")
    run = BulkRun(folder, model.from_anywhere(), field, threshold, form)
    problems = Problems()
    todo = run.begin(blocks)
    failed = 0
    if todo:
        with shown(quiet=quiet) as progress:
            count = progress.stage("finding", len(todo))
            for done in find_in_blocks(run, todo, workers=workers):
                failed += done.failed is not None
                for each in (done.failed,) if done.failed else done.problems:
                    problems(each)
                if done.bad > len(done.problems):
                    problems(f"{done.source}: {done.bad - len(done.problems):,} more such rows")
                count(1)
    if not failed:
        manifest = run.conclude()
        told = f"{manifest['entities']:,} entities in {manifest['rows']:,} rows"
        remark(f"{told} and {len(blocks):,} parts in {output}", quiet=quiet)
    problems.conclude()
