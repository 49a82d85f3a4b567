"""The kinds of a model: sample, classifier and gates, and their files in the model folder."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from safetensors.numpy import save

from thresher.array_files import Arrays, load_arrays, with_prefix, without_prefix
from thresher.entities.finding.candidate_arrays import Name
from thresher.entities.kinds.assignment import KindAssigner
from thresher.entities.kinds.classifier import KindClassifier
from thresher.entities.kinds.entity_sample import EntitySample
from thresher.entities.kinds.examples import check_kind_name
from thresher.errors import InputError
from thresher.untrusted_files import check_weights, parse_json
from thresher.validation import require

if TYPE_CHECKING:
    from thresher.entities.kinds.gates import KindGates
    from thresher.gates.selector import Selector

WEIGHTS, NAMES = "kinds.safetensors", "kinds.json"
FILES = (WEIGHTS, NAMES)
_MAX_NAMES_BYTES = 4 << 20  # a sample has about a thousand names
_SAMPLE, _CLASSIFIER, _GATES = "sample.", "classifier.", "gates."


@dataclass(frozen=True)
class KindModel:
    """A sample of entities, a classifier of their kinds, and gates that find entities of a kind.

    sample: shows in which contexts names occur; other kinds can be learned with it
    classifier: None if the model has no kinds
    gates: one for each kind; None if they were not trained
    listed: the names that are examples of kinds, each with the number of its kind
    """

    sample: EntitySample
    classifier: KindClassifier | None = None
    gates: "KindGates | None" = None
    listed: Mapping[Name, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.gates is not None and self.classifier is not None:
            count = len(self.gates.selectors)
            if count != len(self.kinds):
                raise ValueError(f"{count} kind gates do not fit {len(self.kinds)} kinds")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of the kinds."""
        return self.classifier.kinds if self.classifier else ()

    @property
    def assigner(self) -> KindAssigner | None:
        """Assigns kinds to candidates; None if the model has no kinds."""
        return KindAssigner(self.classifier, self.listed) if self.classifier else None

    def listed_config(self) -> dict[str, int]:
        """Return `listed` as JSON can hold it; `listed_names` reads it again."""
        return {" ".join(name): kind for name, kind in self.listed.items()}

    @property
    def _selectors(self) -> "tuple[Selector, ...]":
        return self.gates.selectors if self.gates else ()

    def check_width(self, width: int) -> None:
        """Raise InputError unless the kinds were learned from word vectors of this width."""
        sampled = self.sample.contexts.shape[1]
        widths = {sampled, *(each.norm.normalized_shape[0] for each in self._selectors)}
        if self.classifier is not None:
            widths.add(len(self.classifier.mean))
        if widths != {width}:
            raise InputError(
                f"the kinds need vectors of width {max(widths - {width})}, "
                f"but the encoder gives {width}"
            )

    def to_files(self) -> dict[str, bytes]:
        """Return the content of the files."""
        arrays = with_prefix(_SAMPLE, self.sample.to_arrays())
        if self.classifier is not None:
            arrays |= with_prefix(_CLASSIFIER, self.classifier.to_arrays())
        if self.gates is not None:
            arrays |= with_prefix(_GATES, self.gates.to_arrays())
        names = {
            "kinds": list(self.kinds),
            "names": [" ".join(each) for each in self.sample.names],
            "listed": self.listed_config(),
        }
        text = json.dumps(names, ensure_ascii=False, indent=0) + "\n"
        return {WEIGHTS: save(arrays), NAMES: text.encode(errors="replace")}

    @classmethod
    def from_files(cls, files: Mapping[str, bytes]) -> "KindModel":
        """Return what `to_files` wrote; raise ValueError for files that do not fit together."""
        if len(files[NAMES]) > _MAX_NAMES_BYTES:
            raise ValueError(f"{NAMES} has more than {_MAX_NAMES_BYTES:,} bytes")
        config = parse_json(files[NAMES], NAMES)
        kinds, names = _strings(config, "kinds"), _strings(config, "names")
        for kind in kinds:
            check_kind_name(kind)
        if len(set(kinds)) < len(kinds):
            raise ValueError(f"{NAMES} lists a kind twice")
        arrays = load_arrays(files[WEIGHTS], WEIGHTS, allow_empty=True)
        sampled = [name.split(" ") for name in names]
        sample = EntitySample.from_arrays(sampled, without_prefix(_SAMPLE, arrays))
        classifier = None
        if kinds:
            classifier = KindClassifier.from_arrays(kinds, without_prefix(_CLASSIFIER, arrays))
        gates = _read_gates(len(kinds), without_prefix(_GATES, arrays))
        return cls(sample, classifier, gates, listed_names(config.get("listed", {}), len(kinds)))


def listed_names(config: Any, kinds: int) -> dict[Name, int]:
    """Return the example names of kinds from a config: case-folded words → number of the kind."""
    valid = isinstance(config, dict) and all(
        type(kind) is int and 0 <= kind < kinds for kind in config.values()
    )
    require(valid, "listed", type(config).__name__, f"names with numbers below {kinds}")
    return {tuple(name.split(" ")): kind for name, kind in config.items()}


def has_gates(files: Mapping[str, bytes]) -> bool:
    """Return True if the kinds that `KindModel.to_files` wrote have gates."""
    names = check_weights(files[WEIGHTS], WEIGHTS) if WEIGHTS in files else {}
    return any(name.startswith(_GATES) for name in names)


def _read_gates(count: int, arrays: Arrays) -> "KindGates | None":
    """Return the gates of a number of kinds; None if there are no weights of gates."""
    if not arrays:
        return None
    from thresher.entities.kinds.gates import KindGates  # noqa: PLC0415 (torch)

    return KindGates.from_arrays(count, arrays)


def _strings(config: Mapping[str, Any], name: str) -> list[str]:
    values = config[name]
    valid = isinstance(values, list) and all(isinstance(each, str) and each for each in values)
    require(valid, name, type(values).__name__, "a list of strings")
    return list(values)
