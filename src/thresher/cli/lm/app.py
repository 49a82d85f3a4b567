"""thresher lm: train, evaluate, compare, sample and export language models."""

import typer

from thresher.cli.lm.evaluate import evaluate
from thresher.cli.lm.export import export
from thresher.cli.lm.report import report
from thresher.cli.lm.sample import sample
from thresher.cli.lm.train import train

lm = typer.Typer(rich_markup_mode="rich")
lm.command()(train)
lm.command("eval")(evaluate)
lm.command()(report)
lm.command()(sample)
lm.command()(export)


@lm.callback()
def language_models() -> None:
    """Train language models that also learn rare tokens, on raw text.

    thresher lm train corpus.txt -o my-lm --margin 4   train a model
    thresher lm eval my-lm                             evaluate it
    thresher lm report my-lm other-lm -o report/       compare models
    thresher lm sample my-lm                           generate text
    thresher lm export my-lm -o my-lm-hf               write it for transformers
    """
