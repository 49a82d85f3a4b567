"""The state of a run that trains selectors, and the reports of its epochs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import torch
from torch import Tensor

from thresher.entities.training.settings import EntitySettings
from thresher.gates.lagrangian import OpenRateLimits, TermWeight
from thresher.gates.optimization import adamw
from thresher.gates.selector import Selector, seeded_selector

OPEN_RATE_LIMITS = OpenRateLimits(low=0.01, high=0.60)
_MAX_SPARSITY_WEIGHT = 1e3
_SEED_DISTANCE = 7919  # between the seeds of selectors that are trained together

Terms = dict[str, tuple[float, Tensor]]  # of the objective by name, each with its weight


@dataclass(frozen=True)
class EpochReport:
    """The means of an epoch.

    epoch: counted from 0   terms: the terms of the objective by name
    selected, sparsity_weights: for each selector, the fraction of units it selects, and λ_s
    """

    epoch: int
    terms: dict[str, float]
    selected: tuple[float, ...]
    sparsity_weights: tuple[float, ...]

    @property
    def collapse(self) -> str | None:
        """One line about the first selector whose gates have collapsed, or None."""
        for number, selected in enumerate(self.selected, start=1):
            reason = OPEN_RATE_LIMITS.collapse(selected)
            if reason is not None:
                which = f" of selector {number}" if len(self.selected) > 1 else ""
                advice = "try another `sparsity`, or a `target_rate`"
                return f"the gates{which} have collapsed: {reason}; {advice}"
        return None


@dataclass
class TrainingState:
    """Everything that changes during training; a run resumes from it as if never stopped.

    sparsity_weights: λ_s of each selector
    step: how many steps of the epoch are done
    generator_state: of the generator that samples gates; None at the start of an epoch
    term_sums, term_counts, selected_sums: the sums over the steps of the epoch, for its report
    """

    selectors: list[Selector]
    optimizer: torch.optim.AdamW
    sparsity_weights: list[TermWeight]
    epoch: int = 0
    step: int = 0
    generator_state: Tensor | None = None
    term_sums: dict[str, float] = field(default_factory=dict)
    term_counts: dict[str, int] = field(default_factory=dict)
    selected_sums: list[float] = field(default_factory=list)

    @classmethod
    def new(cls, settings: EntitySettings, width: int, device: torch.device) -> "TrainingState":
        """Return the state at the start, which depends on the seed alone."""
        seeds = [settings.seed + i * _SEED_DISTANCE for i in range(settings.selectors)]
        selectors = [
            seeded_selector(
                seed,
                width,
                hidden=settings.hidden,
                form=settings.form,
                gate_options=settings.gate_options,
            ).to(device)
            for seed in seeds
        ]
        optimizer = adamw(
            selectors, learning_rate=settings.learning_rate, weight_decay=settings.weight_decay
        )
        weights = [
            TermWeight(weight, target, max_weight=_MAX_SPARSITY_WEIGHT)
            for weight, target in zip(settings.sparsities, settings.target_rates, strict=True)
        ]
        return cls(selectors, optimizer, weights)

    def add_step(self, terms: Terms, rates: Sequence[float]) -> None:
        """Add the terms and the fractions of open gates of a step to the sums of the epoch."""
        self.selected_sums = [a + b for a, b in zip_longest(self.selected_sums, rates, fillvalue=0)]
        for name, (_, term) in terms.items():
            self.term_sums[name] = self.term_sums.get(name, 0.0) + float(term.detach())
            self.term_counts[name] = self.term_counts.get(name, 0) + 1

    def end_epoch(self) -> EpochReport:
        """Return the report of the epoch, and start the next one."""
        report = EpochReport(
            epoch=self.epoch,
            terms={name: total / self.term_counts[name] for name, total in self.term_sums.items()},
            selected=tuple(total / self.step for total in self.selected_sums),
            sparsity_weights=tuple(each.weight for each in self.sparsity_weights),
        )
        self.epoch, self.step, self.generator_state = self.epoch + 1, 0, None
        self.term_sums, self.term_counts, self.selected_sums = {}, {}, []
        return report
