"""thresher lm eval: evaluate a language model."""

import thresher
from thresher.cli.errors import Problems, print_note
from thresher.cli.lm.figures import figures_as_json, figures_as_table
from thresher.cli.lm.options import ModelFolder, TestSources
from thresher.cli.lm.texts import join_documents
from thresher.cli.models import load_language_model
from thresher.cli.option_groups import with_option_groups
from thresher.cli.options import Field, Format, JsonRunOptions
from thresher.cli.output import print_results
from thresher.errors import InputError


@with_option_groups
def evaluate(
    *,
    model: ModelFolder,
    sources: TestSources = None,
    format_: Format = None,
    field: Field = "text",
    run: JsonRunOptions,
) -> None:
    """Evaluate a language model: loss, perplexity, accuracy, loss by frequency.

    thresher lm eval my-lm
    thresher lm eval my-lm other-text.txt --json

    Losses are in nats, under the full softmax. T is the temperature that was best
    on the validation split. The loss of a range of ranks is the mean over the
    tokens of these ranks, each counted once; rank 1 is the most frequent token of
    the training split.
    """
    if format_ is not None and not sources:
        raise InputError("`format` is the format of `sources`; give at least one source")
    from thresher.lm.reports.text_evaluation import evaluate_text  # noqa: PLC0415 (torch)

    problems = Problems()
    trained = load_language_model(model, device=run.device)
    evaluation = trained.test
    if sources:
        texts = thresher.read_texts(
            sources, format=format_, field=field, on_problem=problems, on_skipped=print_note
        )
        evaluation = evaluate_text(trained, join_documents(texts))
    about = {"model": str(model), "text": sources}
    print_results(
        about | figures_as_json(trained, evaluation),
        f"{int(evaluation.tokens.count.sum()):,} tokens predicted",
        figures_as_table(trained, evaluation),
        run,
    )
    problems.exit_if_any()
