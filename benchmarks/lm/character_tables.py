"""The tables of the experiments on Shakespeare's characters."""

from collections.abc import Mapping
from statistics import mean

from benchmarks.lm.experiments import SHAKESPEARE
from benchmarks.lm.rows import Result, results
from benchmarks.lm.spread import MISSING, Seeds, named, spread, table, values

GROUPS = ((1, 10), (21, 30), (41, 50), (51, 60), (41, 65))
ROLES = {"input": "1: input", "target": "2.1: target", "other": "2.2: not the target"}


def ranked(result: Result, first: int, last: int) -> list[int]:
    """The tokens of these ranks by frequency in the training text."""
    counts = result["counts"]
    return sorted(range(len(counts)), key=lambda token: -counts[token])[first - 1 : last]


def group_loss(result: Result, when: str, first: int, last: int) -> float:
    """The mean over tokens of their test losses, tokens that do not occur left out."""
    found = result[when]["all"]
    losses: list[float] = [
        found["token_losses"][token] / found["token_counts"][token]
        for token in ranked(result, first, last)
        if found["token_counts"][token]
    ]
    return mean(losses)


def role_share(result: Result, role: str, first: int, last: int) -> float:
    """The mean over tokens of a role's share in the gradient norms they received."""
    roles = result["roles"]
    shares: list[float] = [
        roles[role][token] / sum(roles[each][token] for each in ROLES)
        for token in ranked(result, first, last)
    ]
    return mean(shares)


def shakespeare(experiment: str = "shakespeare") -> str:
    """Losses at equal steps and at best validation, and gradients by role."""
    found = results(experiment)
    rows = list(dict.fromkeys([*_shakespeare_rows(found), *SHAKESPEARE.rows]))
    if experiment != "shakespeare":
        rows = rows[:3]
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
    """How much the margins give, in words."""
    standard = found.get("standard")
    if not standard:
        return MISSING
    said = []
    for row in ("margin 2", "margin 4"):
        if row not in found:
            continue
        for when, name in (("final", "equal steps"), ("best", "best validation")):
            gains = [
                mean(values(standard, figure)) - mean(values(found[row], figure))
                for figure in (
                    lambda each, when=when: each[when]["all"]["loss"],
                    lambda each, when=when: group_loss(each, when, 41, 50),
                )
            ]
            said.append(f"{row}, {name}: whole loss {gains[0]:+.3f}, ranks 41–50 {gains[1]:+.3f}")
    return "Gained over standard, nats: " + "; ".join(said) + "."


def roles_table(seeds: Seeds | None) -> str:
    """What part of its gradient a token receives in each role, by popularity."""
    if not seeds:
        return f"Gradients by role: {MISSING}."
    groups = [(1, 10), (11, 20), (21, 30), (31, 40), (41, 65)]
    lines = [
        [title, *(spread(seeds, lambda each: role_share(each, role, a, b), 2) for a, b in groups)]  # noqa: B023
        for role, title in ROLES.items()
    ]
    heavier = all(
        role_share(each, "other", 41, 65) > role_share(each, other, 41, 65)
        for each in seeds.values()
        for other in ("input", "target")
    )
    verdict = "does" if heavier else "does not"
    return (
        table(["share of gradient, standard", *(f"ranks {a}–{b}" for a, b in groups)], lines)
        + f"\n\nFor ranks 41–65 role 2.2 {verdict} outweigh each of the others in every seed."
    )
