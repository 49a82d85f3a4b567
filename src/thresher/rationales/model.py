"""What was learned, as a value and as a folder."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors.torch import load, save
from torch import Tensor

from thresher.checkpoint_files import without_prefix
from thresher.errors import InputError
from thresher.gates.selector import Selector
from thresher.model_folder import ModelKind, config_errors_as_input_errors
from thresher.rationales.classifier import Classifier
from thresher.rationales.model_card import card

_WEIGHTS = "weights.safetensors"
KIND = ModelKind("rationale model", format=1, files=(_WEIGHTS,), made_by="thresher rationale fit")


@dataclass(frozen=True)
class RationaleModel:
    """A classifier, the gates over its words, and what they were made from.

    threshold: a word is in the rationale from this P(open) on
    learned_from: counts, settings, figures on held-out texts and warnings, for the model card
    """

    encoder: str
    layer: int
    labels: tuple[str, ...]
    selector: Selector
    classifier: Classifier
    mode: str
    gates_at: str
    threshold: float
    learned_from: dict[str, Any] = field(default_factory=dict)

    def checked_for(self, width: int) -> "RationaleModel":
        """This model, if it reads vectors of that width."""
        expected = self.selector.norm.normalized_shape[0]
        if expected != width:
            raise InputError(
                f"the model reads vectors of width {expected}; {self.encoder} gives {width}"
            )
        return self

    def write(self, folder: Path) -> None:
        """Write the model, whole or not at all."""
        tensors = {f"selector.{name}": value for name, value in self.selector.state_dict().items()}
        for name, value in self.classifier.state_dict().items():
            tensors[f"classifier.{name}"] = value
        weights = save({name: value.cpu().contiguous() for name, value in tensors.items()})
        config = {
            "encoder": self.encoder,
            "layer": self.layer,
            "labels": list(self.labels),
            "hidden": self.selector.inner.out_features,
            "classifier_hidden": self.classifier.inner.out_features,
            "form": self.selector.form,
            "mode": self.mode,
            "gates_at": self.gates_at,
            "threshold": self.threshold,
            "learned_from": self.learned_from,
        }
        KIND.write(folder, config, {_WEIGHTS: weights}, card=card(config))

    @classmethod
    def read(cls, folder: Path) -> "RationaleModel":
        """Read a model; what is missing, changed or from elsewhere is said in one line."""
        config, files = KIND.read(folder)
        with config_errors_as_input_errors(folder):
            return _model(config, load(files[_WEIGHTS]))


def _model(config: dict[str, Any], weights: dict[str, Tensor]) -> RationaleModel:
    labels = tuple(str(label) for label in config["labels"])
    width = len(weights["selector.norm.weight"])
    selector = Selector(width, hidden=config["hidden"], form=config["form"])
    selector.load_state_dict(without_prefix("selector.", weights))
    classifier = Classifier(width, len(labels), hidden=config["classifier_hidden"])
    classifier.load_state_dict(without_prefix("classifier.", weights))
    return RationaleModel(
        encoder=config["encoder"],
        layer=config["layer"],
        labels=labels,
        selector=selector.eval(),
        classifier=classifier.eval().requires_grad_(False),
        mode=config["mode"],
        gates_at=config["gates_at"],
        threshold=float(config["threshold"]),
        learned_from=dict(config["learned_from"]),
    )
