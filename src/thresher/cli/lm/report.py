"""thresher lm report: compare models with tables and plots."""

import json
from collections.abc import Sequence
from pathlib import Path

from thresher.atomic_files import check_can_write
from thresher.cli.lm.options import ModelFolders, ReportFolder
from thresher.cli.models import load_language_model
from thresher.cli.options import Json, Quiet
from thresher.cli.output import plural, print_line
from thresher.cli.progress import progress_bars
from thresher.errors import InputError
from thresher.output_lock import lock_output


def report(
    models: ModelFolders, output: ReportFolder, as_json: Json = False, quiet: Quiet = False
) -> None:
    """Compare language models with a table and plots by token frequency.

    thresher lm report my-lm other-lm -o report/

    The plots show the loss by token frequency, the gradient that each token
    received as input, as target and as neither, and the loss of frequent and of
    rare tokens during training.
    """
    from thresher.lm.reports.report import write_report  # noqa: PLC0415 (torch)

    if output.exists() and not output.is_dir():
        raise InputError(f"{output} is not a folder; choose another one for the report")
    check_can_write(output / "report.md")
    with lock_output(output), progress_bars(quiet=quiet) as progress:
        count = progress.stage("models", len(models) + 1)
        loaded = {}
        for name, folder in zip(_names(models), models, strict=True):
            loaded[name] = load_language_model(folder, device="cpu")
            count(1)
        files = write_report(loaded, output)
        count(1)
    if as_json:
        print_line(json.dumps({"report": str(output), "models": list(loaded), "files": files}))
    elif not quiet:
        amounts = (
            f"{plural(len(loaded), 'model')}, {plural(len(files) - 1, 'file')} in the same folder"
        )
        print_line(f"{output / 'report.md'}: {amounts}")


def _names(folders: Sequence[Path]) -> list[str]:
    """Return a name for each model: its folder's name, or the whole path if names repeat."""
    short = [folder.resolve().name for folder in folders]
    if len(set(short)) == len(short):
        return short
    paths = ["-".join(folder.resolve().parts[1:]) for folder in folders]
    if len(set(paths)) < len(paths):
        raise InputError("the same model is given twice")
    return paths
