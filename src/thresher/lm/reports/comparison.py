"""Compare two language models, or the seeds of two: differences by group, and a conclusion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from thresher.lm.reports.group_losses import (
    Estimate,
    group_losses,
    mean_over_seeds,
    overall_loss,
)
from thresher.lm.trained_model import TrainedLanguageModel

MIN_OCCURRENCES = 30  # with fewer, an interval says little: the spread itself is not known
ALL = "all"

Models = Mapping[str, TrainedLanguageModel]


@dataclass(frozen=True)
class Difference:
    """A loss minus another one, over all positions or for the tokens of a group.

    occurrences: the number of positions that it is based on
    """

    loss: Estimate
    occurrences: int

    @property
    def is_rare(self) -> bool:
        """Whether the tokens occur too rarely for any conclusion."""
        return self.occurrences < MIN_OCCURRENCES

    @property
    def is_decided(self) -> bool:
        """Whether the difference is larger than its interval."""
        return not self.is_rare and abs(self.loss.mean) > self.loss.half_width  # False for NaN


Differences = dict[str, Difference]


def model_sets(models: Models) -> list[Models]:
    """Divide models into sets that differ in nothing but their seed."""
    sets: list[Models] = []
    left = dict(models)
    while left:
        first = next(iter(left.values()))
        sets.append({name: each for name, each in left.items() if same_up_to_seed(first, each)})
        left = {name: each for name, each in left.items() if name not in sets[-1]}
    return sets


def set_name(models: Models) -> str:
    """Return the name of a set of models in tables."""
    first = next(iter(models))
    return first if len(models) == 1 else f"{first} ({len(models)} seeds)"


def compared_sets(models: Models) -> tuple[Models, Models] | None:
    """Return what a report compares: two models, or two sets of several seeds; otherwise None."""
    sets = model_sets(models)
    if len(models) == 2:
        sets = [{name: trained} for name, trained in models.items()]
    elif len(sets) != 2 or any(len(each) == 1 for each in sets):
        return None
    every = list(models.values())
    return (sets[0], sets[1]) if all(comparable(every[0], each) for each in every) else None


def loss_differences(first: Models, second: Models) -> Differences:
    """Return the second loss minus the first, over all positions and by group.

    With one model each, the intervals are those over positions and treat both evaluations as
    independent: on the same text they are too wide rather than too narrow, since both models find
    the same positions difficult. With several seeds they are intervals over seeds.
    """
    before, after = (_estimates(list(each.values())) for each in (first, second))
    occurrences = _occurrences(next(iter(second.values())))
    return {
        name: Difference(after[name] - before[name], occurrences[name])
        for name in after
        if name in before
    }


def seed_losses(models: Sequence[TrainedLanguageModel]) -> dict[str, list[float]]:
    """Return the loss of each model, over all positions and by group."""
    return {
        ALL: [each.test.loss for each in models],
        **{
            groups[0].name: [group.loss.mean for group in groups]
            for groups in zip(*(group_losses(each, each.test) for each in models), strict=True)
        },
    }


def comparable(first: TrainedLanguageModel, second: TrainedLanguageModel) -> bool:
    """Return whether both models have the same vocabulary and were tested on as many tokens."""
    return (
        first.tokenizer.names == second.tokenizer.names
        and first.test.metrics()["tokens"] == second.test.metrics()["tokens"]
    )


def same_up_to_seed(first: TrainedLanguageModel, second: TrainedLanguageModel) -> bool:
    """Return whether two models differ in nothing but their seed."""
    return (
        first.architecture == second.architecture
        and first.tokenizer.names == second.tokenizer.names
        and replace(first.settings, seed=0) == replace(second.settings, seed=0)
    )


def conclusion(first: str, second: str, differences: Differences) -> str:
    """Return in words where the second model is better or worse than the first.

    differences: from `loss_differences`
    """
    groups = {name: each for name, each in differences.items() if name != ALL}
    sentences = [f"Over all positions, {second} {_phrase(differences[ALL], first)}."]
    decided = {name: each.loss.mean for name, each in groups.items() if each.is_decided}
    for sign, text in ((-1, "lower"), (1, "higher")):
        names = [f"{name} ({mean:+.3f})" for name, mean in decided.items() if mean * sign > 0]
        if names:
            sentences.append(f"Its loss is {text} in {_listed(names)}.")
    rare = [f"{name} ({each.occurrences})" for name, each in groups.items() if each.is_rare]
    undecided = len(groups) - len(decided) - len(rare)
    if undecided:
        which = "all groups" if undecided == len(groups) else f"{undecided} of {len(groups)} groups"
        sentences.append(
            f"In {which} the difference is smaller than its confidence interval; more test text "
            "or more seeds would be needed to tell."
        )
    if rare:
        sentences.append(f"Too few occurrences for a conclusion: {_listed(rare)}.")
    return " ".join(sentences)


def _estimates(models: list[TrainedLanguageModel]) -> dict[str, Estimate]:
    """Return the losses of a model, or their means over several seeds."""
    if len(models) > 1:
        return {name: mean_over_seeds(losses) for name, losses in seed_losses(models).items()}
    (model,) = models
    groups = {each.name: each.loss for each in group_losses(model, model.test)}
    return {ALL: overall_loss(model.test)} | groups


def _occurrences(model: TrainedLanguageModel) -> dict[str, int]:
    groups = {each.name: each.occurrences for each in group_losses(model, model.test)}
    return {ALL: int(model.test.tokens.count.sum())} | groups


def _phrase(difference: Difference, other: str) -> str:
    loss = difference.loss
    if not difference.is_decided:
        return f"has about the same loss as {other} ({loss.mean:+.3f} nats)"
    comparison = "lower" if loss.mean < 0 else "higher"
    by = f"by {abs(loss.mean):.3f}±{loss.half_width:.3f} nats"
    return f"has a {comparison} loss than {other} {by}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
