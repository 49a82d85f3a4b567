"""The models a server was started with, by name. A request can name them, and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thresher.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder


@dataclass(frozen=True)
class Model:
    """A model: a finder for each of its selectors, and which of them finds by default.

    selector: counted from 1
    """

    name: str
    finders: tuple["EntityFinder", ...]
    selector: int

    @classmethod
    def of(cls, name: str, finder: "EntityFinder") -> "Model":
        """The model of a finder."""
        count = len(finder.model.heads)
        finders = tuple(finder.with_selector(number) for number in range(1, count + 1))
        return cls(name, finders, finder.model.entity + 1)

    def finder(self, selector: int | None = None) -> "EntityFinder":
        """The finder of a selector."""
        number = self.selector if selector is None else selector
        if not 1 <= number <= len(self.finders):
            raise InputError(
                f"the model {self.name} has {len(self.finders)} selectors, counted from 1; "
                f"got {number}"
            )
        return self.finders[number - 1]


class Shelf:
    """Models by name; the first is what a request gets that names none."""

    def __init__(self, finders: Mapping[str, "EntityFinder"]) -> None:
        if not finders:
            raise ValueError("a server needs a model")
        self.models = [Model.of(name, finder) for name, finder in finders.items()]

    @property
    def names(self) -> list[str]:
        """The names, the default one first."""
        return [model.name for model in self.models]

    def chosen(self, name: str | None) -> Model:
        """The model that a request means."""
        if name is None:
            return self.models[0]
        for model in self.models:
            if model.name == name:
                return model
        hint = did_you_mean(name, self.names)
        raise InputError(f"unknown model {name[:80]!r}; choose from {', '.join(self.names)}{hint}")
