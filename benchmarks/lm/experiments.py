"""The experiments on language models: rows by name."""

from collections.abc import Mapping
from dataclasses import replace

from benchmarks.lm.corpora import MANY_PAIRS, PAIRS
from benchmarks.lm.rows import FIVE_SEEDS, SEEDS, Experiment, Result, Row

BIG_LIMIT = 5.25  # the maximum perplexity of the big one of two languages

_SHAKESPEARE = Row(
    "shakespeare",
    shape={"layers": 6, "width": 384, "heads": 6, "context": 256},
    settings={"batch": 64, "steps": 2000, "roles": True},
)
_GRID = {
    f"dropout {dropout}, smoothing {smoothing}": _SHAKESPEARE.with_(
        dropout=dropout, label_smoothing=smoothing, seeds=(0,)
    )
    for dropout, smoothing in ((0.1, 0.0), (0.2, 0.0), (0.3, 0.0), (0.0, 0.1), (0.2, 0.1))
}


def _regularised(found: Mapping[str, Result]) -> dict[str, Row]:
    """Return the best row of the grid with all seeds, without and with a margin."""
    if not all(name in found for name in _GRID):
        return {}
    best = min(_GRID, key=lambda name: found[name]["best_loss"])
    row = replace(_GRID[best], seeds=SEEDS)
    return {best: row, f"margin 4, {best}": row.with_(margin="4")}


SHAKESPEARE = Experiment(
    {
        "standard": _SHAKESPEARE,
        "margin 2": _SHAKESPEARE.with_(margin="2"),
        "margin 4": _SHAKESPEARE.with_(margin="4"),
        "cosine 1": _SHAKESPEARE.with_(cosine=1.0),
        "margin 3, budget 0.01, dropout 0.2": _SHAKESPEARE.with_(
            margin="3", rare_token_budget=0.01, dropout=0.2, seeds=FIVE_SEEDS
        ),
        **_GRID,
    },
    _regularised,
)

_ON_CPU = Row(
    "shakespeare",
    shape={"layers": 4, "width": 128, "heads": 4, "context": 128},
    settings={"batch": 16, "steps": 1500, "roles": True},
)
SHAKESPEARE_CPU = Experiment(
    {
        "standard": _ON_CPU,
        "margin 2": _ON_CPU.with_(margin="2"),
        "margin 4": _ON_CPU.with_(margin="4"),
        "auto": _ON_CPU.with_(margin="auto"),
    }
)

_TWO = Row(
    "two-languages",  # size, positions, steps and batch size as published
    shape={"layers": 4, "width": 128, "heads": 4, "context": 64, "positions": "learned"},
    settings={
        "batch": 12,
        "steps": 8000,
        "evaluate_every": 1000,
        "validation_tokens": 32_768,
        "precision": "float32",
    },
)
_NO_DECAY = _TWO.with_(decay_embeddings=False)
_ROTARY = _NO_DECAY.with_(positions="rotary")
_CANDIDATES = {
    name: replace(row, seeds=(0,))
    for name, row in {
        "margin 0.6, no decay": _NO_DECAY.with_(margin="0.6"),
        "margin 0.5 to 2, no decay": _NO_DECAY.with_(margin="0.5:2"),
        "margin 0.6, no decay, rate 0.002": _NO_DECAY.with_(margin="0.6", learning_rate=0.002),
        "margin 0.6, no decay, rotary": _ROTARY.with_(margin="0.6"),
        "margin 0.5 to 2, no decay, rotary": _ROTARY.with_(margin="0.5:2"),
        "standard, untied, rate 0.002": replace(_TWO.with_(learning_rate=0.002), tied=False),
    }.items()
}


def _best_of_two_languages(found: Mapping[str, Result]) -> dict[str, Row]:
    """Return the best candidate on the small language that respects the limit of the big one."""
    if not all(name in found for name in _CANDIDATES):
        return {}

    def perplexity(name: str, text: str) -> float:
        return float(found[name]["validation"][text]["perplexity_at_temperature"])

    allowed = [name for name in _CANDIDATES if perplexity(name, "big") <= BIG_LIMIT]
    best = min(allowed or _CANDIDATES, key=lambda name: perplexity(name, "small"))
    return {best: replace(_CANDIDATES[best], seeds=SEEDS)}


TWO_LANGUAGES = Experiment(
    {
        "standard": _TWO,
        "standard, untied": replace(_TWO, tied=False),
        "margin 1": _TWO.with_(margin="1"),
        "margin 1, no decay": _NO_DECAY.with_(margin="1"),
        "matched": _TWO.with_(match_rare_tokens=True),
        "matched, margin 4": _TWO.with_(match_rare_tokens=True, margin="4"),
        "norm 0.0625": _TWO.with_(margin="norm:0.0625"),
        "norm 0.0625, no decay": _NO_DECAY.with_(margin="norm:0.0625"),
        **_CANDIDATES,
    },
    _best_of_two_languages,
)

_FIVE = Row(
    "five-languages",
    shape={"layers": 6, "width": 384, "heads": 6, "context": 256},
    settings={"batch": 32, "steps": 1500, "evaluate_every": 100},
)
_FIVE_LONGER = _FIVE.with_(dropout=0.2, steps=2500)
FIVE_LANGUAGES = Experiment(
    {
        "standard": _FIVE,
        "margin 2": _FIVE.with_(margin="2"),
        "margin 4": _FIVE.with_(margin="4"),
        "margin 6": _FIVE.with_(margin="6"),
        "margin 8": _FIVE.with_(margin="8"),
        "standard, dropout 0.2": _FIVE_LONGER,
        "margin 6, dropout 0.2": _FIVE_LONGER.with_(margin="6"),
        "margin 4, dropout 0.2": _FIVE_LONGER.with_(margin="4"),
        "margin 4, smoothing 0.05, dropout 0.2": _FIVE_LONGER.with_(
            margin="4", label_smoothing=0.05
        ),
        "auto": _FIVE.with_(margin="auto"),
        "auto, dropout 0.2": _FIVE_LONGER.with_(margin="auto"),
    }
)

LAYERS = (
    "full",
    "classes",
    "hierarchical",
    "tree",
    "differentiated",
    "adaptive",
    "noise-contrastive",
    "negative-sampling",
    "target-sampling",
    "adjusted",
    "gated",
)
WORDS = Row(
    "words",
    shape={"layers": 4, "width": 256, "heads": 4, "context": 64, "dropout": 0.1},
    settings={"batch": 128, "steps": 800, "evaluate_every": 100, "validation_tokens": 32_768},
    tied=False,
)
OUTPUT_LAYERS = Experiment(
    {name: replace(WORDS, output=name) for name in LAYERS}
    | {"full, margin 4": WORDS.with_(margin="4"), "full, tied": replace(WORDS, tied=True)}
)

_PAIRS = Row(
    "",
    shape={"layers": 4, "width": 256, "heads": 4, "context": 256, "dropout": 0.1},
    settings={"batch": 32, "steps": 1500, "evaluate_every": 125},
)
VOCABULARIES = Experiment({str(size): replace(_PAIRS, corpus=f"pairs-{size}") for size in PAIRS})

_AUTOMATIC = {
    "Shakespeare, 1000 steps": _SHAKESPEARE.with_(steps=1000, roles=False),
    "Shakespeare, 5000 steps": _SHAKESPEARE.with_(steps=5000, roles=False),
    "Shakespeare, 2000 steps, dropout 0.2": _SHAKESPEARE.with_(dropout=0.2, roles=False),
    "8192 byte pairs": replace(_PAIRS, corpus="pairs-8192"),
    "32,000 byte pairs": replace(_PAIRS, corpus=f"pairs-{MANY_PAIRS}"),
}
AUTOMATIC_MARGIN = Experiment(
    {
        f"{name}: {margin_name}": row.with_(margin=margin)
        for name, row in _AUTOMATIC.items()
        for margin_name, margin in (("standard", "inf"), ("auto", "auto"))
    }
)

EXPERIMENTS = {
    "shakespeare": SHAKESPEARE,
    "shakespeare-cpu": SHAKESPEARE_CPU,
    "two-languages": TWO_LANGUAGES,
    "five-languages": FIVE_LANGUAGES,
    "output-layers": OUTPUT_LAYERS,
    "vocabularies": VOCABULARIES,
    "automatic-margin": AUTOMATIC_MARGIN,
}
