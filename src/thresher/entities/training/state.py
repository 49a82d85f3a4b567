"""Everything that changes while selectors are trained, and what an epoch of it is told by."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import torch
from torch import Tensor

from thresher.entities.training.settings import EntitySettings
from thresher.gates.selector import Selector, seeded_selector

COLLAPSED_BELOW, COLLAPSED_ABOVE = 0.01, 0.60  # the share of units let through
_OTHER_SEED = 7919  # between the seeds of selectors that are trained together

Terms = dict[str, tuple[float, Tensor]]  # of the objective by name, each with its weight


@dataclass(frozen=True)
class EpochReport:
    """What an epoch did: each term of the objective by name.

    selected, sparsity_weights: for each selector, the share of units let through, and λ_s
    """

    epoch: int
    terms: dict[str, float]
    selected: tuple[float, ...]
    sparsity_weights: tuple[float, ...]

    @property
    def collapsed(self) -> str | None:
        """One line on what went wrong, if some gates have nearly all closed or mostly opened."""
        for number, share in enumerate(self.selected, start=1):
            if not COLLAPSED_BELOW <= share <= COLLAPSED_ABOVE:
                which = f" of selector {number}" if len(self.selected) > 1 else ""
                what = "closed nearly everywhere" if share < COLLAPSED_BELOW else "open mostly"
                return (
                    f"the gates{which} have collapsed: {what} ({share:.1%} of words selected); "
                    "try another weight for sparsity, or a target rate"
                )
        return None


@dataclass
class TrainingState:
    """Everything that changes while training: with it, a run goes on as if never stopped.

    sparsity_weights, rate_errors: of each selector   step: those done of the epoch
    noise: the state of its random numbers, None before its first step
    sums, seen, selected: what its report will say, of the steps so far
    """

    selectors: list[Selector]
    optimizer: torch.optim.AdamW
    sparsity_weights: list[float]
    rate_errors: list[float]
    epoch: int = 0
    step: int = 0
    noise: Tensor | None = None
    sums: dict[str, float] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    selected: list[float] = field(default_factory=list)

    @classmethod
    def new(cls, settings: EntitySettings, width: int, device: torch.device) -> "TrainingState":
        """A state at the start, which follows from the seed alone."""
        selectors = [
            seeded_selector(
                settings.seed + number * _OTHER_SEED,
                width,
                hidden=settings.hidden,
                form=settings.form,
            ).to(device)
            for number in range(settings.selectors)
        ]
        optimizer = torch.optim.AdamW(
            [parameter for selector in selectors for parameter in selector.parameters()],
            lr=settings.learning_rate,
            weight_decay=settings.weight_decay,
        )
        return cls(selectors, optimizer, list(settings.sparsities), [0.0] * len(selectors))

    def count(self, terms: Terms, rates: Sequence[float]) -> None:
        """Remember a step for the report of its epoch."""
        self.selected = [a + b for a, b in zip_longest(self.selected, rates, fillvalue=0.0)]
        for name, (_, term) in terms.items():
            self.sums[name] = self.sums.get(name, 0.0) + float(term.detach())
            self.seen[name] = self.seen.get(name, 0) + 1

    def conclude_epoch(self) -> EpochReport:
        """What the epoch did; the next one begins."""
        report = EpochReport(
            epoch=self.epoch,
            terms={name: total / self.seen[name] for name, total in self.sums.items()},
            selected=tuple(total / self.step for total in self.selected),
            sparsity_weights=tuple(self.sparsity_weights),
        )
        self.epoch, self.step, self.noise = self.epoch + 1, 0, None
        self.sums, self.seen, self.selected = {}, {}, []
        return report
