"""A language model that is trained within a second."""

import random

from thresher.lm.shape import Shape
from thresher.lm.training.fit import fit_language_model
from thresher.lm.training.settings import LanguageModelSettings

SHAPE = Shape(width=16, heads=2, layers=1, context=16)
SETTINGS = LanguageModelSettings(
    steps=20, batch=4, warm_up=2, evaluate_every=10, validation_tokens=500
)


def make_text(lines=400):
    generator = random.Random(0)
    words = "the cat sat on a mat and then it ran off to see Rosa in Oslo".split()
    return "".join(f"{' '.join(generator.choices(words, k=8))}.\n" for _ in range(lines))


def fit(text=None, **options):
    text = make_text() if text is None else text
    return fit_language_model(text, **{"shape": SHAPE, "settings": SETTINGS} | options)
