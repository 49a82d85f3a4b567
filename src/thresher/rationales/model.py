"""What was learned, as a value and as a folder."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from thresher.entities.selector import Selector
from thresher.errors import InputError
from thresher.folders import write_folder
from thresher.rationales.classifier import Classifier
from thresher.rationales.model_card import card

KIND, FORMAT = "rationales", 1
_WEIGHTS, _CONFIG = "weights.safetensors", "config.json"


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
            "kind": KIND,
            "format": FORMAT,
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
            "sha256": {_WEIGHTS: hashlib.sha256(weights).hexdigest()},
        }
        written = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
        contents = {
            _WEIGHTS: weights,
            _CONFIG: written.encode(errors="replace"),
            "README.md": card(config).encode(errors="replace"),
        }
        write_folder(folder, contents)

    @classmethod
    def read(cls, folder: Path) -> "RationaleModel":
        """Read a model; what is missing, changed or from elsewhere is said in one line."""
        config = _read_config(folder)
        try:
            content = (folder / _WEIGHTS).read_bytes()
        except OSError as error:
            raise InputError(f"the model {folder} is incomplete: {error}") from error
        try:
            if hashlib.sha256(content).hexdigest() != config["sha256"][_WEIGHTS]:
                raise InputError(f"{folder / _WEIGHTS} was changed after the model was saved")
            return _model(config, load(content))
        except InputError:
            raise
        except (KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
            reason = " ".join(str(error).splitlines()) or type(error).__name__
            raise InputError(f"{folder / _CONFIG} does not describe a model: {reason}") from error


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / _CONFIG
    if not folder.is_dir():
        raise InputError(f"there is no model folder {folder}")
    try:
        config = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{folder} is not a model: it has no {_CONFIG}") from error
    except ValueError as error:
        raise InputError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(config, dict) or config.get("kind") != KIND:
        raise InputError(f"{folder} is not a model of rationales; make one with rationale fit")
    if config.get("format") != FORMAT:
        version = config.get("format")
        raise InputError(f"{path} has format {version!r}; this version reads format {FORMAT}")
    return config


def _model(config: dict[str, Any], weights: Mapping[str, Tensor]) -> RationaleModel:
    labels = tuple(str(label) for label in config["labels"])
    width = len(weights["selector.norm.weight"])
    selector = Selector(width, hidden=config["hidden"], form=config["form"])
    selector.load_state_dict(_under("selector.", weights))
    classifier = Classifier(width, len(labels), hidden=config["classifier_hidden"])
    classifier.load_state_dict(_under("classifier.", weights))
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


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }
