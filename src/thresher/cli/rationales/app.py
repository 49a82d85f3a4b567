"""thresher rationale: classify texts and find the words that decide."""

import typer

from thresher.cli.rationales.evaluate import evaluate
from thresher.cli.rationales.find import find
from thresher.cli.rationales.fit import fit

rationale = typer.Typer(rich_markup_mode="rich")
rationale.command()(fit)
rationale.command()(find)
rationale.command("eval")(evaluate)


@rationale.callback()
def rationales() -> None:
    """Classify texts, and select the words that a classifier needs (rationales).

    thresher rationale fit reviews.jsonl -o model         train on labelled texts
    thresher rationale find reviews.jsonl --model model   labels and rationales
    thresher rationale eval test.jsonl --model model      evaluate rationales
    """
