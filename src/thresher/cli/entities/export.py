"""thresher export: write a finder as an ONNX file."""

from pathlib import Path
from typing import Annotated, Any

from thresher.bulk.finder_choice import FinderChoice
from thresher.cli.entities.find_options import Kinds, Model, Selector, read_kinds
from thresher.cli.models import load_entity_finder
from thresher.cli.option_groups import flag, option, with_option_groups
from thresher.cli.options import SummaryOptions
from thresher.cli.output import print_summary
from thresher.cli.progress import progress_bars
from thresher.errors import InputError
from thresher.output_lock import lock_output

OnnxFile = Annotated[Path, option("The ONNX file to write.", "--output", "-o", metavar="FILE")]
Force = Annotated[bool, flag("Replace an existing file.", "--force")]


@with_option_groups
def export(
    *,
    output: OnnxFile,
    force: Force = False,
    model: Model = None,
    kinds: Kinds = None,
    selector: Selector = None,
    run: SummaryOptions,
) -> None:
    """Write a model as one ONNX file, which ONNX Runtime can run without torch.

    thresher export -o model.onnx
    thresher export --model my-model -o model.onnx
    thresher find notes.txt --model model.onnx

    The file has the graph in float32, the tokenizer and everything that finding
    needs. It finds the same entities as find --exact with the model itself.
    """
    if output.suffix.lower() != ".onnx":
        raise InputError(f"the name of the output must end in .onnx, got {output}")
    if output.is_dir():
        raise InputError(f"{output} is a folder; choose another name")
    if output.exists() and not force:
        raise InputError(f"{output} exists; choose another file, or add `force` to replace it")
    choice = FinderChoice(model, "cpu", selector, exact=True, kinds=read_kinds(kinds))
    finder = load_entity_finder(choice, quiet=run.quiet)
    from thresher.entities.onnx.export import export_onnx  # noqa: PLC0415 (torch)

    with lock_output(output), progress_bars(quiet=run.quiet) as progress:
        progress.stage("exporting")
        export_onnx(finder, output)
    summary = {
        "file": str(output),
        "model": str(model or "english"),
        "kinds": list(finder.kinds),
        "bytes": output.stat().st_size,
    }
    print_summary(summary, _summary_line, run)


def _summary_line(summary: dict[str, Any]) -> str:
    return f"{summary['file']}: exported from {summary['model']}; {summary['bytes'] / 1e6:.1f} MB"
