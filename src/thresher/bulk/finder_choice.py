"""Which finder to load, as a small value that can be sent to other processes and machines."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import thresher
from thresher.entities.choices import KindsWord
from thresher.errors import InputError

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder
    from thresher.entities.finding.user_rules import UserRules
    from thresher.entities.kinds.examples import KindExamples


@dataclass(frozen=True)
class FinderChoice:
    """A model and how to use it.

    folder: None for the built-in English model
    device: None for a GPU if there is one
    selector: the number of a selector, from 1; None for the one that finds entities
    exact: compute in float32 on a CPU that could use int8
    kinds: example names of kinds; "none" for entities without kinds; None for those of the model
    rules: names and patterns that are always or never reported
    """

    folder: Path | None = None
    device: str | None = None
    selector: int | None = None
    exact: bool = False
    kinds: "KindExamples | str | None" = None
    rules: "UserRules | None" = None

    def with_absolute_folder(self) -> "FinderChoice":
        """Return a choice that is valid in any working folder; names of built-in models stay."""
        if self.folder is None or not self.folder.exists():
            return self
        return replace(self, folder=self.folder.resolve())

    def load(self) -> "EntityFinder":
        """Load the finder."""
        if self.kinds == KindsWord.AUTO:
            raise InputError(
                "`kinds` auto is only for thresher find without --engine; thresher kinds writes "
                "the discovered kinds to a file"
            )
        if self.folder is None:
            finder = thresher.EntityFinder.default(device=self.device, exact=self.exact)
        else:
            finder = thresher.EntityFinder.load(self.folder, device=self.device, exact=self.exact)
        if self.selector is not None:
            finder = finder.with_selector(self.selector)
        if self.kinds is not None:
            finder = finder.with_kinds(None if self.kinds == KindsWord.NONE else self.kinds)
        if self.rules is not None:
            finder.rules = self.rules
        return finder
