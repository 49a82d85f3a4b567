"""Tables of the experiments on the characters of Shakespeare."""

from collections.abc import Mapping
from functools import partial
from statistics import mean

from benchmarks.lm.experiments import EXPERIMENTS
from benchmarks.lm.rows import Result, results
from benchmarks.lm.spread import MISSING, Seeds, named, spread, table, values

GROUPS = ((1, 10), (21, 30), (41, 50), (51, 60), (41, 65))
ROLES = {"input": "1: input", "target": "2.1: target", "other": "2.2: not the target"}


def ranked(result: Result, first: int, last: int) -> list[int]:
    """Return the tokens of ranks `first` to `last` by frequency in the training text."""
    counts = result["counts"]
    return sorted(range(len(counts)), key=lambda token: -counts[token])[first - 1 : last]


def group_loss(result: Result, when: str, first: int, last: int) -> float:
    """Return the mean over tokens of their test losses, without tokens that do not occur."""
    found = result[when]["all"]
    losses: list[float] = [
        found["token_losses"][token] / found["token_counts"][token]
        for token in ranked(result, first, last)
        if found["token_counts"][token]
    ]
    return mean(losses)


def role_fraction(result: Result, role: str, first: int, last: int) -> float:
    """Return the mean over tokens of a role's fraction of their gradient norms."""
    roles = result["roles"]
    fractions: list[float] = [
        roles[role][token] / sum(roles[each][token] for each in ROLES)
        for token in ranked(result, first, last)
    ]
    return mean(fractions)


def shakespeare(experiment: str = "shakespeare") -> str:
    """Return tables of the losses after the last and the best step, and of gradients by role."""
    found = results(experiment)
    rows = list(dict.fromkeys([*_shakespeare_rows(found), *EXPERIMENTS[experiment].rows]))
    parts = []
    for when, title in (("final", "after the last step"), ("best", "at the best validation loss")):
        head = [title, "all", *(f"ranks {a}–{b}" for a, b in GROUPS), "at step"]
        parts.append(table(head, [_shakespeare_line(row, found.get(row), when) for row in rows]))
    return "\n\n".join([*parts, _gain(found), roles_table(found.get("standard"))])


def _shakespeare_rows(found: Mapping[str, Seeds]) -> list[str]:
    first = ["standard", "margin 2", "margin 4"]
    others = [row for row in found if row not in first]
    return first + sorted(others, key=lambda row: -len(found[row]))


def _shakespeare_line(row: str, seeds: Seeds | None, when: str) -> list[str]:
    cells = [spread(seeds, lambda each: each[when]["all"]["loss"])]
    cells += [
        spread(seeds, lambda each, a=a, b=b: group_loss(each, when, a, b))  # type: ignore[misc]
        for a, b in GROUPS
    ]
    step = "best_step" if when == "best" else "last"
    cells.append(
        spread(seeds, lambda each: each.get(step, each["settings"]["steps"]), 0) if seeds else ""
    )
    return [named(row, seeds), *cells]


def _gain(found: Mapping[str, Seeds]) -> str:
    """Return a sentence on the gains of the margins."""
    standard = found.get("standard")
    if not standard:
        return MISSING
    gains_by_row = []
    for row in ("margin 2", "margin 4", "auto"):
        if row not in found:
            continue
        for when, name in (
            ("final", "after the last step"),
            ("best", "at the best validation loss"),
        ):
            gains = [
                mean(values(standard, figure)) - mean(values(found[row], figure))
                for figure in (
                    lambda each, when=when: each[when]["all"]["loss"],
                    lambda each, when=when: group_loss(each, when, 41, 50),
                )
            ]
            gains_by_row.append(f"{row}, {name}: all {gains[0]:+.3f}, ranks 41–50 {gains[1]:+.3f}")
    return "Reduction of the loss by a margin, in nats: " + "; ".join(gains_by_row) + "."


def roles_table(seeds: Seeds | None) -> str:
    """Return a table of the fraction of the gradient that tokens receive in each role, by rank."""
    if not seeds:
        return f"Gradients by role: {MISSING}."
    groups = [(1, 10), (11, 20), (21, 30), (31, 40), (41, 65)]
    lines = [
        [
            title,
            *(
                spread(seeds, partial(role_fraction, role=role, first=first, last=last), 2)
                for first, last in groups
            ),
        ]
        for role, title in ROLES.items()
    ]
    is_largest = all(
        role_fraction(each, "other", 41, 65) > role_fraction(each, other, 41, 65)
        for each in seeds.values()
        for other in ("input", "target")
    )
    verb = "is larger" if is_largest else "is not larger"
    return (
        table(
            ["fraction of gradient norms, standard", *(f"ranks {a}–{b}" for a, b in groups)], lines
        )
        + f"\n\nFor ranks 41–65, the fraction of role 2.2 {verb} than that of each other role in "
        "every seed."
    )
