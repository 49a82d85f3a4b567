"""A trained rationale model, as a value and as a folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors.torch import save
from torch import Tensor

from thresher.array_files import with_prefix, without_prefix
from thresher.errors import InputError
from thresher.gates.choices import GatePosition
from thresher.gates.selector import Selector
from thresher.model_folder import FolderLayout, config_errors_as_input_errors
from thresher.rationales.classifier import Classifier
from thresher.tensor_files import build_module, load_tensors
from thresher.validation import require, require_choice, require_number

_WEIGHTS = "weights.safetensors"
LAYOUT = FolderLayout(
    "rationale model",
    version=1,
    files=(_WEIGHTS,),
    made_by="thresher rationale fit",
    max_weights=4 << 30,
)


@dataclass(frozen=True)
class RationaleModel:
    """A classifier, the selector of its words, and a record of how they were trained.

    encoder: its name   layer: whose hidden states the selector reads
    threshold: a word is in the rationale if its P(open) is at least this
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
        """Return this model; raise InputError unless it reads vectors of this width."""
        expected = self.selector.norm.normalized_shape[0]
        if expected != width:
            raise InputError(
                f"the model reads vectors of width {expected}; {self.encoder} gives {width}"
            )
        return self

    def write(self, folder: Path) -> None:
        """Write the model to a folder, completely or not at all."""
        tensors = with_prefix("selector.", self.selector.state_dict())
        tensors |= with_prefix("classifier.", self.classifier.state_dict())
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
        LAYOUT.write(folder, config, {_WEIGHTS: weights}, card=model_card(config))

    @classmethod
    def read(cls, folder: Path) -> "RationaleModel":
        """Read a model; raise InputError if files are missing, changed or do not fit together."""
        config, files = LAYOUT.read(folder)
        with config_errors_as_input_errors(folder):
            return _model(config, load_tensors(files[_WEIGHTS], _WEIGHTS))


def _model(config: dict[str, Any], weights: dict[str, Tensor]) -> RationaleModel:
    require(type(config["encoder"]) is str, "encoder", repr(config["encoder"]), "a name")
    require(type(config["layer"]) is int, "layer", repr(config["layer"]), "a whole number")
    require_choice("gates_at", config["gates_at"], GatePosition)
    require_number("threshold", config["threshold"], at_least=0, at_most=1)
    labels = tuple(str(label) for label in config["labels"])
    width = len(weights["selector.norm.weight"])
    selector = build_module(
        lambda: Selector(width, hidden=config["hidden"], form=config["form"]),
        without_prefix("selector.", weights),
    )
    classifier = build_module(
        lambda: Classifier(width, len(labels), hidden=config["classifier_hidden"]),
        without_prefix("classifier.", weights),
    )
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


_MODES = {
    "frozen": "trained on whole texts first, then frozen; the gates were trained to keep its "
    "answers",
    "joint": "trained together with the gates, on the words that they select",
}


def model_card(config: Mapping[str, Any]) -> str:
    """Return the text of the card for the config of a model."""
    record = config["learned_from"]
    figures = record.get("held_out", {})
    lines = [
        "---",
        "library_name: thresher",
        "tags: [text-classification, rationales]",
        "---",
        "",
        "# A Thresher rationale model",
        "",
        "Labels a text and selects the words that the label depends on.",
        "",
        f"- Encoder: `{config['encoder']}`, on case-folded text; gates read layer "
        f"{config['layer']}.",
        f"- Labels: {', '.join(config['labels'])}.",
        f"- Classifier: {_MODES.get(config['mode'], config['mode'])}.",
        f"- Gates: {config['form']}; closed words are removed at the {config['gates_at']}.",
        f"- Trained on {record.get('texts', 0):,} labelled texts, "
        f"{record.get('words', 0):,} words.",
    ]
    if figures:
        lines.append(
            f"- On {figures['texts']:,} held-out texts: accuracy {figures['accuracy']:.3f}; from "
            f"rationales alone {figures['accuracy_from_rationale']:.3f}, without them "
            f"{figures['accuracy_without']:.3f}; {figures['selected']:.1%} of words selected."
        )
    lines += [f"- Warning: {warning}." for warning in record.get("warnings", [])]
    lines += [
        "",
        "```python",
        "from thresher.rationales.finder import RationaleFinder",
        'finder = RationaleFinder.load("this-folder")',
        "```",
        "",
    ]
    return "\n".join(lines)
