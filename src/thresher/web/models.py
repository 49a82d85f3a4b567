"""The models of a server by name. Requests can only select one of these, never a file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thresher.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder


@dataclass(frozen=True)
class ServedModel:
    """A model with one finder per selector.

    selector: the number of the default selector, counted from 1
    """

    name: str
    finders: tuple["EntityFinder", ...]
    selector: int

    @classmethod
    def from_finder(cls, name: str, finder: "EntityFinder") -> "ServedModel":
        """Make a finder for each selector of the model."""
        count = len(finder.model.selectors)
        finders = tuple(finder.with_selector(number) for number in range(1, count + 1))
        return cls(name, finders, finder.model.entity + 1)

    def finder(self, selector: int | None = None) -> "EntityFinder":
        """Return the finder of a selector, by default of the default one."""
        number = self.selector if selector is None else selector
        if not 1 <= number <= len(self.finders):
            raise InputError(
                f"`selector` must be between 1 and {len(self.finders)} for the model {self.name}, "
                f"got {number}"
            )
        return self.finders[number - 1]


class ServedModels:
    """Models by name; the first one is the default."""

    def __init__(self, finders: Mapping[str, "EntityFinder"]) -> None:
        if not finders:
            raise ValueError("`finders` must contain at least one model")
        self.models = [ServedModel.from_finder(name, finder) for name, finder in finders.items()]

    @property
    def names(self) -> list[str]:
        """The names, the default one first."""
        return [model.name for model in self.models]

    def get(self, name: str | None) -> ServedModel:
        """Return the model of that name; for None, the default model."""
        if name is None:
            return self.models[0]
        for model in self.models:
            if model.name == name:
                return model
        hint = did_you_mean(name, self.names)
        raise InputError(f"unknown model {name[:80]!r}; choose from {', '.join(self.names)}{hint}")
