"""thresher rationale find: label texts and find their rationales."""

import sys
from enum import StrEnum
from itertools import chain
from typing import Annotated

from thresher.cli.errors import Problems
from thresher.cli.models import load_rationales
from thresher.cli.option_groups import option, with_option_groups
from thresher.cli.options import RunOptions
from thresher.cli.output import OutputFile, check_outputs, chosen_format, open_output
from thresher.cli.progress import print_remark, progress_bars
from thresher.cli.rationales.options import LabelledTextOptions, ModelFolder, Threshold
from thresher.cli.rationales.writers import RationaleWriter
from thresher.rationales.choices import RationaleMethod


class OutputFormat(StrEnum):
    """The formats that `thresher rationale find` writes."""

    TERMINAL = "terminal"
    JSONL = "jsonl"
    HTML = "html"


_FORMAT_OF_SUFFIX = {".html": "html", ".htm": "html"}

To = Annotated[
    OutputFormat | None,
    option(
        "terminal (coloured), jsonl or html. By default what the name of the output file ends in; "
        "without a file, terminal on a terminal and jsonl in a pipe.",
        metavar="FORMAT",
    ),
]


Method = Annotated[
    RationaleMethod,
    option(
        "How the words are chosen: by the trained gates (gates), or by integrated gradients "
        "(integrated-gradients), which choose as many words and run the classifier eight times.",
        metavar="METHOD",
    ),
]


@with_option_groups
def find(
    *,
    texts: LabelledTextOptions,
    model: ModelFolder,
    output: OutputFile = None,
    to: To = None,
    threshold: Threshold = None,
    method: Method = RationaleMethod.GATES,
    run: RunOptions,
) -> None:
    """Label texts, and mark the words that the label depends on.

    thresher rationale find reviews.jsonl --model model
    thresher rationale find reviews.csv --model model -o page.html
    echo "Cold soup." | thresher rationale find - --from lines --model model

    The words of spans of the kind "for" make the label more probable, those of
    the kind "against" less probable.

    Labels of the texts are ignored. Records that cannot be read are reported and
    skipped; the exit status is then 1.
    """
    check_outputs([output], texts.texts)
    output_format = chosen_format(to, output, _FORMAT_OF_SUFFIX)
    problems = Problems()
    documents = texts.read(problems)
    documents = chain([next(documents)], documents)  # fails without text, before a model is loaded
    on_terminal = output is None and sys.stdout.isatty()
    with open_output(output) as write, progress_bars(quiet=run.quiet or on_terminal) as progress:
        finder = load_rationales(model, device=run.device, quiet=run.quiet)
        tracked = progress.track(documents, "finding")
        writer = RationaleWriter(finder, tracked, threshold, method)
        for piece in writer.pieces(output_format):
            write(piece)
    if output is not None:
        print_remark(f"{writer.texts:,} texts in {output}", quiet=run.quiet)
    problems.exit_if_any()
