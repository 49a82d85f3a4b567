"""thresher lm: language models from raw text."""

import typer

from thresher.cli.lm.evaluate import evaluate
from thresher.cli.lm.report import report
from thresher.cli.lm.sample import sample
from thresher.cli.lm.train import train

lm = typer.Typer(rich_markup_mode="rich")
lm.command()(train)
lm.command("eval")(evaluate)
lm.command()(report)
lm.command()(sample)


@lm.callback()
def language_models() -> None:
    """Language models from raw text, that learn rare tokens too.

    thresher lm train corpus.txt -o my-lm --margin 4   train one
    thresher lm eval my-lm                             what it is worth
    thresher lm report my-lm other-lm -o report/       pictures by token
    thresher lm sample my-lm                           text drawn from it
    """
