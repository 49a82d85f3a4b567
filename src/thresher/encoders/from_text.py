"""An encoder for a language that nobody has one for: a masked language model of the user's text."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from thresher.errors import InputError
from thresher.lm.fitting import fit_language_model
from thresher.lm.learned import LearnedModel
from thresher.lm.settings import TrainingSettings
from thresher.lm.tokens import WordPairs
from thresher.lm.training import Progress
from thresher.lm.transformer import Shape

LEAST_WORDS = 10_000  # fewer teach no vectors worth reading

SHAPES = {
    "small": Shape(width=192, layers=4, heads=4, context=128, causal=False, dropout=0.1),
    "large": Shape(width=384, layers=6, heads=6, context=128, causal=False, dropout=0.1),
}
"""Small: within an hour on two cores. Large: minutes on a GPU."""
SETTINGS = TrainingSettings(steps=3000, batch=32, margin="4", evaluate_every=500, roles=False)


def train_encoder(
    sentences: Sequence[Sequence[str]],
    *,
    size: str = "small",
    seed: int = 0,
    device: torch.device | str = "cpu",
    shape: Shape | None = None,
    settings: TrainingSettings = SETTINGS,
    work: Path | None = None,
    resume: bool = False,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> LearnedModel:
    """A masked language model of the sentences; `LanguageModelEncoder` reads words with it.

    shape: instead of the one that the size stands for
    """
    words = sum(map(len, sentences))
    if words < LEAST_WORDS:
        raise InputError(
            f"{words:,} words are too few to train an encoder on; give at least {LEAST_WORDS:,}, "
            "or name an encoder that there is"
        )
    if size not in SHAPES:
        raise InputError(f"unknown size {size!r}; choose from {', '.join(SHAPES)}")
    return fit_language_model(
        text_of(sentences),
        tokens=WordPairs.kind,
        shape=shape or SHAPES[size],
        settings=replace(settings, seed=seed),
        device=device,
        work=work,
        resume=resume,
        on_progress=on_progress,
    )


def text_of(sentences: Sequence[Sequence[str]]) -> str:
    """Sentences as a text that is cut in the same places again: each is a paragraph."""
    return "".join(" ".join(words) + "\n\n" for words in sentences)
