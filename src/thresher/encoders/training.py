"""An encoder for a language that nobody has one for: a masked language model of the user's text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from thresher.errors import InputError
from thresher.lm.losses.margin import Margin
from thresher.lm.tokens.factory import WordPairs
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.lm.training.fit import fit_language_model
from thresher.lm.training.loop import TrainingProgress
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.transformer import Shape

LEAST_WORDS = 10_000  # fewer teach no vectors worth reading


@dataclass(frozen=True)
class Size:
    """How large an encoder is, and how long it learns."""

    shape: Shape
    settings: LanguageModelSettings


SIZES = {
    "small": Size(
        Shape(width=192, layers=4, heads=4, causal=False, dropout=0.1),
        LanguageModelSettings(steps=2000, batch=32, learning_rate=1e-3, roles=False),
    ),
    "large": Size(
        Shape(width=384, layers=6, heads=6, causal=False, dropout=0.1),
        LanguageModelSettings(steps=900, batch=128, learning_rate=2e-3, warm_up=50, roles=False),
    ),
}
"""Small: within an hour on two cores. Large: a minute on a large GPU."""


def train_encoder(
    sentences: Sequence[Sequence[str]],
    *,
    size: str = "small",
    margin: Margin | str | float = "4",
    seed: int = 0,
    device: torch.device | str = "cpu",
    work: Path | None = None,
    resume: bool = False,
    on_progress: Callable[[TrainingProgress], None] = lambda progress: None,
) -> TrainedLanguageModel:
    """A masked language model of the sentences; `LanguageModelEncoder` reads words with it.

    size: one of `SIZES`   margin: see `Margin.parse`; "inf" is plain cross-entropy
    """
    words = sum(map(len, sentences))
    if words < LEAST_WORDS:
        raise InputError(
            f"{words:,} words are too few to train an encoder on; give at least {LEAST_WORDS:,}, "
            "or name an encoder that there is"
        )
    if size not in SIZES:
        raise InputError(f"unknown size {size!r}; choose from {', '.join(SIZES)}")
    on_gpu = torch.device(device).type == "cuda"
    settings = replace(
        SIZES[size].settings,
        margin=Margin.parse(margin),
        seed=seed,
        precision="bfloat16" if on_gpu else "float32",
    )
    return fit_language_model(
        text_of(sentences),
        tokens=WordPairs.kind,
        shape=SIZES[size].shape,
        settings=settings,
        device=device,
        work=work,
        resume=resume,
        on_progress=on_progress,
    )


def text_of(sentences: Sequence[Sequence[str]]) -> str:
    """Sentences as a text that is cut in the same places again: each is a paragraph."""
    return "".join(" ".join(words) + "\n\n" for words in sentences)
