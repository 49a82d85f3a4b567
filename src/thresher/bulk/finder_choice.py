"""Which finder to load, as a small value that can be sent to other processes and machines."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import thresher
from thresher.entities.built_in import (
    AUTO,
    ENGLISH,
    MEAN_OF,
    find_model_folder,
    names_of_models,
)
from thresher.entities.choices import ONNX_SUFFIX, KindsWord
from thresher.entities.readable_scripts import readable_scripts
from thresher.errors import InputError
from thresher.model_folder import CONFIG
from thresher.untrusted_files import read_json

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder
    from thresher.entities.finding.adaptation import Adaptation
    from thresher.entities.finding.text_finder import TextFinder
    from thresher.entities.finding.user_rules import UserRules
    from thresher.entities.kinds.examples import KindExamples


@dataclass(frozen=True)
class FinderChoice:
    """A model and how to use it.

    folder: None for the built-in English model; several names joined by "+" for their mean
    device: None for a GPU if there is one
    selector: the number of a selector, from 1; None for the one that finds entities
    exact: compute in float32 on a CPU that could use int8
    kinds: example names of kinds; "none" for entities without kinds; None for those of the model
    rules: names and patterns that are always or never reported
    adaptations: what was estimated for the texts at hand, by the name of the model
    dates: whether dates are entities, too
    """

    folder: Path | None = None
    device: str | None = None
    selector: int | None = None
    exact: bool = False
    kinds: "KindExamples | str | None" = None
    rules: "UserRules | None" = None
    adaptations: "Mapping[str, Adaptation]" = field(default_factory=dict)
    dates: bool = False

    def with_absolute_folder(self) -> "FinderChoice":
        """Return a choice that is valid in any working folder; names of built-in models stay."""
        if len(self.parts) > 1:
            absolute = [each.with_absolute_folder() for each in self.parts]
            names = MEAN_OF.join(each.name for each in absolute)
            return replace(self.with_model(names), adaptations=absolute[0].adaptations)
        if self.folder is None or not self.folder.exists():
            return self
        folder = self.folder.resolve()
        moved = {str(folder): each for name, each in self.adaptations.items() if name == self.name}
        return replace(self, folder=folder, adaptations=moved)

    @property
    def is_auto(self) -> bool:
        """True if a model is chosen for each text."""
        return self.folder is not None and str(self.folder) == AUTO and not self.folder.exists()

    @property
    def parts(self) -> "list[FinderChoice]":
        """The choice of each model whose gates are averaged; this choice if it has one model."""
        names = names_of_models(self.name)
        return [self.with_model(name) for name in names] if len(names) > 1 else [self]

    @property
    def is_onnx(self) -> bool:
        """True if the model is a file that `thresher export` wrote."""
        return self.folder is not None and self.folder.suffix.lower() == ONNX_SUFFIX

    @property
    def name(self) -> str:
        """The name of the model."""
        return ENGLISH if self.folder is None else str(self.folder)

    def adapts_by_default(self) -> bool:
        """Return True if the model is adapted to texts unless the user says otherwise.

        Of several models that are averaged, the first one counts.
        """
        return self._config().get("adapt") is True

    def readable_scripts(self) -> frozenset[str] | None:
        """Return the scripts that the model can read, from its config; None if not known."""
        config = self._config()
        try:
            return readable_scripts(config["encoder"], config["learned_from"])
        except (LookupError, TypeError, AttributeError):
            return None

    def _config(self) -> dict[str, Any]:
        """Return the config of the first model; empty for `auto`, and if it cannot be read."""
        try:
            config = read_json(find_model_folder(self.parts[0].name) / CONFIG)
        except InputError:
            return {}
        return config if isinstance(config, dict) else {}

    def load(self) -> "TextFinder":
        """Load a finder; for `auto` one that chooses a model for each text."""
        if self.is_onnx:
            finder: TextFinder = self._load_onnx()
        elif self.is_auto:
            finder = self._load_auto()
        elif len(self.parts) > 1:
            finder = self._load_mean()
        else:
            finder = self._load_static() or self.load_entity_finder()
        if self.rules is not None:
            finder.rules = self.rules
        return finder

    def _load_auto(self) -> "TextFinder":
        from thresher.entities.auto_finder import AutoFinder  # noqa: PLC0415 (torch)

        if self.selector is not None:
            raise InputError(f"`selector` needs one model; `model` {AUTO} uses several")
        single = replace(self, rules=None)  # the AutoFinder applies them
        return AutoFinder(lambda name: single.with_model(name).load_entity_finder())

    def _load_mean(self) -> "TextFinder":
        from thresher.entities.mean_finder import MeanFinder  # noqa: PLC0415 (torch)

        if self.selector is not None:
            raise InputError(f"`selector` needs one model; {self.name} is a mean of models")
        first, *others = (replace(each, rules=None) for each in self.parts)
        # The first model assigns kinds and knows dates.
        others = [replace(each, kinds=KindsWord.NONE, dates=False) for each in others]
        return MeanFinder([each.load_entity_finder() for each in (first, *others)])

    def _load_static(self) -> "TextFinder | None":
        """Load a model without a transformer, without torch; None if torch is needed."""
        options = (self.selector, self.kinds, self.adaptations, self.dates, self.exact)
        if self.folder is None or any(options) or self.device not in (None, "cpu"):
            return None
        from thresher.entities.static_finder import StaticFinder  # noqa: PLC0415 (numpy)

        return StaticFinder.load(find_model_folder(self.folder))

    def _load_onnx(self) -> "TextFinder":
        from thresher.entities.onnx.finder import OnnxFinder  # noqa: PLC0415 (an extra)

        assert self.folder is not None
        fixed = {
            "selector": self.selector,
            "kinds": self.kinds,
            "adapt": self.adaptations or None,
            "dates": self.dates or None,
        }
        for name, value in fixed.items():
            if value is not None:
                raise InputError(
                    f"`{name}` cannot be used with an ONNX file, only when it is exported"
                )
        if self.device not in (None, "cpu"):
            raise InputError("`device` must be cpu for an ONNX file; other devices need the model")
        return OnnxFinder.load(self.folder)

    def with_model(self, name: str) -> "FinderChoice":
        """Return the choice of a built-in model, with the same options."""
        return replace(self, folder=Path(name))

    def load_entity_finder(self) -> "EntityFinder":
        """Load the `EntityFinder` of one model; InputError for `auto` and for an ONNX file."""
        if self.is_auto:
            raise InputError(f"`model` {AUTO} uses several models; name one of them")
        if len(self.parts) > 1:
            raise InputError(f"`model` {self.name} is a mean of models; this needs one of them")
        if self.is_onnx:
            raise InputError(
                f"{self.folder} is an ONNX file, but this needs the model that was exported"
            )
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
        if self.dates:
            finder = finder.with_dates()
        if self.name in self.adaptations:
            finder = finder.with_adaptation(self.adaptations[self.name])
        if self.kinds is not None:
            finder = finder.with_kinds(None if self.kinds == KindsWord.NONE else self.kinds)
        if self.rules is not None:
            finder.rules = self.rules
        return finder
