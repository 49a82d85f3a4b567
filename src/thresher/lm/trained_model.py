"""A trained language model with its tokenizer, settings and statistics, saved as a folder."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

from thresher.array_files import without_prefix
from thresher.lm.model import Architecture, LanguageModel, saved_name
from thresher.lm.reports.evaluation import Evaluation, TokenSums
from thresher.lm.reports.gradient_roles import ROLES, RoleGradients
from thresher.lm.run_config import run_options, to_toml
from thresher.lm.shape import Shape, require_rotary_size
from thresher.lm.tokens.factory import tokenizer_from_json
from thresher.lm.tokens.tokenizer import Tokenizer
from thresher.lm.training.batches import Task
from thresher.lm.training.log import LogRow, log_from_csv, log_to_csv
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.state import task_for
from thresher.lm.transformer import Transformer
from thresher.model_folder import FolderLayout, config_errors_as_input_errors
from thresher.tensor_files import load_tensors, require_finite, require_shapes
from thresher.validation import require, require_number

_WEIGHTS, _STATISTICS = "model.safetensors", "statistics.safetensors"
_TOKENIZER, _LOG, _RUN = "tokens.json", "log.csv", "run.toml"
LAYOUT = FolderLayout(
    "language model",
    version=1,
    files=(_WEIGHTS, _STATISTICS, _TOKENIZER, _LOG),
    made_by="thresher lm train",
    optional=(_RUN,),
)
_SUMS, _ROLES = "test.", "roles."


@dataclass(frozen=True)
class TrainedLanguageModel:
    """The result of a training run.

    counts: (vocabulary,), how often each token occurs in the training text
    best_step: the step with the lowest validation loss, from which the weights are
    log: a row for each evaluation during training
    test: the evaluation on the test part, at the best temperature on the validation part
    roles: gradient norms by role, if they were measured
    fingerprint: a digest of text and settings, by which a resumed run recognizes its own model
    """

    model: LanguageModel
    tokenizer: Tokenizer
    settings: LanguageModelSettings
    counts: Tensor
    best_step: int
    log: Sequence[LogRow]
    test: Evaluation
    roles: RoleGradients | None = None
    fingerprint: str | None = None

    @property
    def architecture(self) -> Architecture:
        """The components of the model."""
        return self.model.architecture

    @property
    def temperature(self) -> float:
        """The best temperature on the validation text."""
        return self.test.temperature

    @property
    def task(self) -> Task:
        """The prediction task of the model."""
        return task_for(self.model, self.settings)

    def write(
        self, folder: Path, *, run_options_too: bool = False, init_from: Path | None = None
    ) -> None:
        """Write the model to a folder, atomically.

        run_options_too: also write run.toml, the options of `thresher lm train` that gave the model
        init_from: the model from which training began, for run.toml
        """
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
            "test": self.test.metrics(),
        }
        if self.fingerprint is not None:
            config["fingerprint"] = self.fingerprint
        files = {
            _WEIGHTS: save(self.model.weights()),
            _STATISTICS: save(statistics),
            _TOKENIZER: self.tokenizer.to_json().encode(),
            _LOG: log_to_csv(self.log).encode(),
        }
        if run_options_too:
            options = run_options(self.architecture, self.tokenizer, self.settings, init_from)
            files[_RUN] = to_toml(options).encode(errors="replace")
        LAYOUT.write(folder, config, files, card=self.card())

    @classmethod
    def read(cls, folder: Path, *, device: torch.device | str = "cpu") -> "TrainedLanguageModel":
        """Read a model from a folder; InputError if it is incomplete or not such a model."""
        config, files = LAYOUT.read(folder)
        with config_errors_as_input_errors(folder):
            saved = config["architecture"]
            architecture = Architecture(**saved | {"shape": Shape(**saved["shape"])})
            statistics = load_tensors(files[_STATISTICS], _STATISTICS)
            _check_statistics(statistics, architecture.vocabulary)
            weights = load_tensors(files[_WEIGHTS], _WEIGHTS, allow_empty=True)
            model = _build_model(architecture, weights, statistics["counts"])
            sums = _read_sums(without_prefix(_SUMS, statistics))
            roles = without_prefix(_ROLES, statistics)
            require(type(config["best_step"]) is int, "best_step", config["best_step"], "a number")
            require_number("temperature", config["temperature"], above=0, below=math.inf)
            return cls(
                model=model.to(device).eval(),
                tokenizer=_read_tokenizer(files[_TOKENIZER], architecture.vocabulary),
                settings=LanguageModelSettings(**config["settings"]),
                counts=statistics["counts"],
                best_step=config["best_step"],
                log=log_from_csv(files[_LOG].decode()),
                test=Evaluation(sums, config["temperature"], config["test_bytes"]),
                roles=RoleGradients(**roles) if roles else None,
                fingerprint=config.get("fingerprint"),
            )

    def card(self) -> str:
        """Return the model card."""
        shape, metrics = self.architecture.shape, self.test.metrics()
        context = "the tokens before it" if shape.causal else "the tokens on both sides"
        return "\n".join(
            [
                "---",
                "library_name: thresher",
                "tags: [language-model]",
                "---",
                "",
                "# A Thresher language model",
                "",
                f"Predicts a token from {context}; trained on raw text.",
                "",
                f"- {shape.layers} layers × {shape.width}, {shape.heads} heads, a context of "
                f"{shape.context} tokens; output layer `{self.architecture.output}`"
                f"{', tied to the embedding' if self.architecture.tied else ''}.",
                f"- A vocabulary of {self.tokenizer.vocabulary:,} tokens ({self.tokenizer.kind}); "
                f"the training text has {int(self.counts.sum()):,} tokens.",
                f"- {self.settings.steps:,} steps with margin {self.settings.margin}; weights of "
                f"step {self.best_step:,}, which has the lowest validation loss.",
                f"- On held-out text: loss {metrics['loss']:.4f} nats, "
                f"perplexity {metrics['perplexity']:.3f}, accuracy {metrics['accuracy']:.3f}.",
                "",
                "```",
                "thresher lm sample this-folder",
                "```",
                "",
            ]
        )


def _read_sums(saved: dict[str, Tensor]) -> TokenSums:
    unknown = torch.full_like(saved["count"], math.nan)  # models saved before version 0.3
    return TokenSums(**{"squared_loss": unknown} | saved)


def _check_statistics(statistics: dict[str, Tensor], vocabulary: int) -> None:
    """Raise ValueError unless there is one value per token, and the counts are whole numbers."""
    for name, value in statistics.items():
        if value.shape != (vocabulary,):
            raise ValueError(f"{_STATISTICS}: {name} must have the shape ({vocabulary},)")
    counts = statistics["counts"]
    if counts.dtype != torch.int64 or bool((counts < 0).any()):
        raise ValueError(f"{_STATISTICS}: counts must be whole numbers of at least 0")


def _build_model(
    architecture: Architecture, weights: dict[str, Tensor], counts: Tensor
) -> LanguageModel:
    """Build the model after checking that its size follows from the size of the weights.

    The number of layers and their shapes are checked before any memory is allocated for them. The
    output layer has a size proportional to the embedding.
    """
    shape = architecture.shape
    embedding = torch.empty(architecture.vocabulary, shape.width, device="meta")
    require_shapes(
        {name: weights[name] for name in ("embedding",) if name in weights},
        {"embedding": embedding},
    )
    require(shape.layers <= len(weights), "layers", shape.layers, "the number of saved layers")
    require_rotary_size(shape)
    with torch.device("meta"):
        transformer = Transformer(shape)
    require_shapes(
        without_prefix("transformer.", weights),
        {
            saved_name("transformer." + name).removeprefix("transformer."): value
            for name, value in transformer.state_dict().items()
        },
    )
    require_finite(weights, _WEIGHTS)
    model = LanguageModel(architecture, frequencies=counts)
    model.load_weights(weights)
    require_finite(dict(model.named_parameters()), _WEIGHTS)
    return model


def _read_tokenizer(content: bytes, vocabulary: int) -> Tokenizer:
    tokenizer = tokenizer_from_json(content.decode())
    if tokenizer.vocabulary != vocabulary:
        raise ValueError(
            f"{_TOKENIZER} has {tokenizer.vocabulary} tokens, but the model has {vocabulary}"
        )
    return tokenizer
