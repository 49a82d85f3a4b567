"""thresher rationale: labels of texts, and the words that carry them."""

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
    """Learn labels of texts, and which words carry them.

    thresher rationale fit reviews.jsonl -o model         learn from labels
    thresher rationale find reviews.jsonl --model model   labels and rationales
    thresher rationale eval test.jsonl --model model      are they faithful?
    """
