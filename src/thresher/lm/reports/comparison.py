"""Compare two trained language models: differences by frequency group, and a conclusion."""

from dataclasses import replace

from thresher.lm.reports.group_losses import Estimate, group_losses, overall_loss
from thresher.lm.trained_model import TrainedLanguageModel


def loss_differences(
    first: TrainedLanguageModel, second: TrainedLanguageModel
) -> dict[str, Estimate]:
    """Return the second model's loss minus the first's, over all positions and by group.

    The intervals treat both evaluations as independent. On the same text they are too wide rather
    than too narrow, since both models find the same positions difficult.
    """
    differences = {"all": overall_loss(second.test) - overall_loss(first.test)}
    before = {each.name: each.loss for each in group_losses(first, first.test)}
    for each in group_losses(second, second.test):
        if each.name in before:
            differences[each.name] = each.loss - before[each.name]
    return differences


def comparable(first: TrainedLanguageModel, second: TrainedLanguageModel) -> bool:
    """Return whether both models have the same vocabulary and were tested on as many tokens."""
    return (
        first.tokenizer.names == second.tokenizer.names
        and first.test.metrics()["tokens"] == second.test.metrics()["tokens"]
    )


def conclusion(first: str, second: str, differences: dict[str, Estimate]) -> str:
    """Return in words where the second model is better or worse than the first.

    differences: from `loss_differences`
    """
    overall, *groups = (
        (name, _verdict(difference), difference) for name, difference in differences.items()
    )
    sentences = [f"Over all positions, {second} {_phrase(overall[1], overall[2], first)}."]
    for verdict, text in (("better", "lower"), ("worse", "higher")):
        names = [f"{name} ({value.mean:+.3f})" for name, found, value in groups if found == verdict]
        if names:
            sentences.append(f"Its loss is {text} in {_listed(names)}.")
    undecided = sum(found == "undecided" for _, found, _ in groups)
    if undecided:
        which = "all groups" if undecided == len(groups) else f"{undecided} of {len(groups)} groups"
        sentences.append(
            f"In {which} the difference is smaller than its confidence interval; more test text "
            "or more seeds would be needed to tell."
        )
    return " ".join(sentences)


def same_up_to_seed(first: TrainedLanguageModel, second: TrainedLanguageModel) -> bool:
    """Return whether two models differ in nothing but their seed."""
    return (
        first.architecture == second.architecture
        and first.tokenizer.names == second.tokenizer.names
        and replace(first.settings, seed=0) == replace(second.settings, seed=0)
    )


def _verdict(difference: Estimate) -> str:
    if not abs(difference.mean) > difference.half_width:  # also if either is NaN
        return "undecided"
    return "better" if difference.mean < 0 else "worse"


def _phrase(verdict: str, difference: Estimate, other: str) -> str:
    by = f"by {abs(difference.mean):.3f}±{difference.half_width:.3f} nats"
    match verdict:
        case "better":
            return f"has a lower loss than {other} {by}"
        case "worse":
            return f"has a higher loss than {other} {by}"
        case _:
            return f"has about the same loss as {other} ({difference.mean:+.3f} nats)"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
