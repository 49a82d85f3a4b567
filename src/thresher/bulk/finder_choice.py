"""Which finder to use, as a small value that other processes and machines can be sent."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import thresher

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder


@dataclass(frozen=True)
class ModelChoice:
    """A model, and how it is to be used.

    folder: None for the built-in one   device: None for a GPU if there is one
    selector: of several, counted from 1; None for the one that finds entities
    exact: in single precision, where a CPU would else compute in eight bits
    """

    folder: Path | None = None
    device: str | None = None
    selector: int | None = None
    exact: bool = False

    def from_anywhere(self) -> "ModelChoice":
        """The same for a process that was started in another folder; built-in models are names."""
        if self.folder is None or not self.folder.exists():
            return self
        return replace(self, folder=self.folder.resolve())

    def load(self) -> "EntityFinder":
        """The finder itself."""
        if self.folder is None:
            finder = thresher.EntityFinder.default(device=self.device, exact=self.exact)
        else:
            finder = thresher.EntityFinder.load(self.folder, device=self.device, exact=self.exact)
        return finder if self.selector is None else finder.with_selector(self.selector)
