"""thresher lm report: tables and pictures of several models."""

import json
from collections.abc import Sequence
from pathlib import Path

from thresher.cli.lm.inputs import load_model
from thresher.cli.lm.options import ModelFolders, ReportFolder
from thresher.cli.options import Json, Quiet
from thresher.cli.output import print_line, several
from thresher.cli.progress import shown
from thresher.errors import InputError


def report(
    models: ModelFolders,
    output: ReportFolder,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare models by token: a table, and pictures of what training did.

    thresher lm report my-lm other-lm -o report/

    The pictures show the tokens by popularity, the gradient each token received
    as input, as target and as neither, and the loss of popular and of rare
    tokens while the models were trained.
    """
    from thresher.lm.reports.report import write_report  # noqa: PLC0415 (torch; help does without)

    if output.exists() and not output.is_dir():
        raise InputError(f"{output} is no folder; choose another place for the report")
    with shown(quiet=quiet) as progress:
        count = progress.stage("models", len(models) + 1)
        read = {}
        for name, folder in zip(_names(models), models, strict=True):
            read[name] = load_model(folder, device="cpu")
            count(1)
        files = write_report(read, output)
        count(1)
    if as_json:
        print_line(json.dumps({"report": str(output), "models": list(read), "files": files}))
    elif not quiet:
        amounts = f"{several(len(read), 'model')}, {several(len(files) - 1, 'file')} beside it"
        print_line(f"{output / 'report.md'}: {amounts}")


def _names(folders: Sequence[Path]) -> list[str]:
    """What to call each model: its folder's name, or the whole path where two are alike."""
    short = [folder.resolve().name for folder in folders]
    if len(set(short)) == len(short):
        return short
    paths = ["-".join(folder.resolve().parts[1:]) for folder in folders]
    if len(set(paths)) < len(paths):
        raise InputError("the same model is named twice")
    return paths
