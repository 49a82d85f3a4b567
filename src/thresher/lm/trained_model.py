"""A trained language model with its tokens and what is known of its training: a folder."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import torch
from safetensors.torch import load, save
from torch import Tensor

from thresher.checkpoint_files import without_prefix
from thresher.lm.model import Architecture, LanguageModel
from thresher.lm.reports.evaluation import Evaluation, TokenSums
from thresher.lm.reports.gradient_roles import ROLES, RoleGradients
from thresher.lm.tokens.factory import Tokens, tokens_from_json
from thresher.lm.training.batches import Task
from thresher.lm.training.loop import Row, task_of
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.transformer import Shape
from thresher.model_folder import ModelKind, config_errors_as_input_errors

_WEIGHTS, _STATISTICS = "model.safetensors", "statistics.safetensors"
_TOKENS, _LOG = "tokens.json", "log.csv"
KIND = ModelKind(
    "language model",
    format=1,
    files=(_WEIGHTS, _STATISTICS, _TOKENS, _LOG),
    made_by="thresher lm train",
)
_SUMS, _ROLES = "test.", "roles."


@dataclass(frozen=True)
class TrainedLanguageModel:
    """All that a run leaves behind.

    counts: (vocabulary,), of tokens in the training text   best_step: where the weights are from
    test: on the last part of the text, at the temperature that was best on the part before it
    roles: gradients by role, where they were measured
    """

    model: LanguageModel
    tokens: Tokens
    settings: LanguageModelSettings
    counts: Tensor
    best_step: int
    log: Sequence[Row]
    test: Evaluation
    roles: RoleGradients | None = None

    @property
    def architecture(self) -> Architecture:
        """What the model is made of."""
        return self.model.architecture

    @property
    def temperature(self) -> float:
        """The best one on validation."""
        return self.test.temperature

    @property
    def task(self) -> Task:
        """What the model predicts."""
        return task_of(self.model, self.settings)

    def write(self, folder: Path) -> None:
        """Write the model, whole or not at all."""
        sums = {each.name: getattr(self.test.tokens, each.name) for each in fields(TokenSums)}
        statistics = {"counts": self.counts} | {_SUMS + name: sums[name] for name in sums}
        if self.roles is not None:
            statistics |= {_ROLES + name: getattr(self.roles, name).cpu() for name in ROLES}
        config = {
            "architecture": asdict(self.architecture),
            "settings": self.settings.as_dict(),
            "best_step": self.best_step,
            "temperature": self.temperature,
            "test_bytes": self.test.byte_count,
            "test": self.test.figures(),
        }
        files = {
            _WEIGHTS: save(self.model.weights()),
            _STATISTICS: save(statistics),
            _TOKENS: self.tokens.to_json().encode(),
            _LOG: log_as_csv(self.log).encode(),
        }
        KIND.write(folder, config, files, card=self.card())

    @classmethod
    def read(cls, folder: Path, *, device: torch.device | str = "cpu") -> "TrainedLanguageModel":
        """Read a model; what is missing, broken or from elsewhere is said in one line."""
        config, files = KIND.read(folder)
        with config_errors_as_input_errors(folder):
            statistics = load(files[_STATISTICS])
            made = config["architecture"]
            architecture = Architecture(**made | {"shape": Shape(**made["shape"])})
            model = LanguageModel(architecture, frequencies=statistics["counts"])
            model.load_weights(load(files[_WEIGHTS]))
            sums = TokenSums(**without_prefix(_SUMS, statistics))
            roles = without_prefix(_ROLES, statistics)
            return cls(
                model=model.to(device).eval(),
                tokens=tokens_from_json(files[_TOKENS].decode()),
                settings=LanguageModelSettings(**config["settings"]),
                counts=statistics["counts"],
                best_step=config["best_step"],
                log=_read_log(files[_LOG].decode()),
                test=Evaluation(sums, config["temperature"], config["test_bytes"]),
                roles=RoleGradients(**roles) if roles else None,
            )

    def card(self) -> str:
        """The model card."""
        shape, figures = self.architecture.shape, self.test.figures()
        reads = "the tokens before it" if shape.causal else "both sides"
        return "\n".join(
            [
                "---",
                "library_name: thresher",
                "tags: [language-model]",
                "---",
                "",
                "# A Thresher language model",
                "",
                f"Predicts a token from {reads}; trained on raw text alone.",
                "",
                f"- {shape.layers} layers × {shape.width}, {shape.heads} heads, a context of "
                f"{shape.context} tokens; output layer `{self.architecture.output}`"
                f"{', tied to the embedding' if self.architecture.tied else ''}.",
                f"- {self.tokens.vocabulary:,} tokens ({self.tokens.kind}), learned with the "
                f"model; {int(self.counts.sum()):,} of them to train on.",
                f"- {self.settings.steps:,} steps with margin {self.settings.margin}; weights of "
                f"step {self.best_step:,}, the best on validation.",
                f"- On the last part of the text, not trained on: loss {figures['loss']:.4f} nats, "
                f"perplexity {figures['perplexity']:.3f}, accuracy {figures['accuracy']:.3f}.",
                "",
                "```",
                "thresher lm sample this-folder",
                "```",
                "",
            ]
        )


def log_as_csv(log: Sequence[Row]) -> str:
    """A line for each evaluation, with the names of the columns above."""
    text = io.StringIO()
    if log:
        writer = csv.DictWriter(text, list(log[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(log)
    return text.getvalue()


def _read_log(text: str) -> list[Row]:
    return [
        {name: int(value) if name == "step" else float(value) for name, value in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]
