"""Two languages at 98 % and 2 % with twenty seeds per row, all models trained at once on a GPU.

python -m benchmarks.lm.two_language_seeds            about ten minutes on an H200
python -m benchmarks.lm.two_language_seeds --rows matched   keeps the other rows of the file
python -m benchmarks.lm.two_language_seeds --trial    a few tiny models on a CPU
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.data import ALL_RESULTS
from benchmarks.lm.corpora import Corpus, corpus
from benchmarks.lm.many_models import ManyModels, train_many
from thresher.atomic_files import write_file
from thresher.lm.model import Architecture
from thresher.lm.shape import Shape
from thresher.lm.training.settings import LanguageModelSettings

RESULTS = ALL_RESULTS / "lm-two-language-seeds.json"
TRIAL_RESULTS = Path(tempfile.gettempdir()) / "lm-two-language-seeds-trial.json"
SEEDS = 20
EVALUATIONS = 8
TEMPERATURES = tuple(0.6 * 1.05**power for power in range(25))  # 0.6 to 1.94
ROWS: dict[str, dict[str, Any]] = {
    "standard": {},
    "norm 0.0625": {"margin": "norm:0.0625"},
    "margin 4": {"margin": "4"},
    "matched": {"match_rare_tokens": True},
    "matched, margin 4": {"match_rare_tokens": True, "margin": "4"},
}


def main() -> None:
    """Train all rows at once; write their figures after every evaluation."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="*", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--trial", action="store_true", help="tiny models on a CPU")
    parser.add_argument("--output", type=Path, help="the file to write; by default the results")
    arguments = parser.parse_args()
    trial, rows = arguments.trial, arguments.rows
    path = arguments.output or (TRIAL_RESULTS if trial else RESULTS)
    shape = Shape(
        width=16 if trial else 128, layers=2 if trial else 4, context=64, positions="learned"
    )
    options = {"batch": 12, "steps": 16 if trial else 8000}
    seeds = range(2 if trial else SEEDS)
    settings = [
        LanguageModelSettings(**options, seed=seed, **ROWS[row])  # type: ignore[arg-type]
        for row in rows
        for seed in seeds
    ]
    text = corpus("two-languages")
    torch.backends.cuda.matmul.allow_tf32 = True
    measured = read_rows(path)
    machine = "CPU" if trial else torch.cuda.get_device_name()
    started = time.perf_counter()
    for row in rows:
        measured[row] = {"machine": f"{machine}, torch {torch.__version__}", "evaluations": []}

    def evaluate(step: int, models: ManyModels) -> None:
        found = _evaluate(models, text.short(2000) if trial else text)
        for number, row in enumerate(rows):
            part = slice(number * len(seeds), (number + 1) * len(seeds))
            figures = {name: values[part] for name, values in found.items()}
            measured[row]["evaluations"].append({"step": step, **figures})
            measured[row]["seconds"] = time.perf_counter() - started
            print(_summary(row, step, figures), flush=True)
        write_file(path, (json.dumps({"rows": measured}) + "\n").encode())

    train_many(
        Architecture(text.vocabulary, shape),
        text,
        settings,
        device="cpu" if trial else "cuda",
        after_steps=evaluate,
        report_every=options["steps"] // EVALUATIONS,
    )


def read_rows(path: Path = RESULTS) -> dict[str, Any]:
    """Return the measured rows by name; each evaluation has one figure for each seed."""
    if not path.is_file():
        return {}
    rows: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return rows


@torch.no_grad()
def _evaluate(models: ManyModels, text: Corpus) -> dict[str, list[float]]:
    """Return for each model the figures of both languages, and the fraction of aligned letters.

    As in the published results, perplexity and accuracy are those of validation and test text
    together; the temperature is the best one on the validation text.
    """
    found: dict[str, list[float]] = {}
    for name in text.test:
        validation, validation_hits = _losses(models, text.validation[name])
        test, hits = _losses(models, text.test[name])
        best = validation.argmin(0)
        losses = (validation + test).gather(0, best[None])[0]
        count = len(text.validation[name]) + len(text.test[name])
        found[f"{name}_perplexity"] = (losses / count).exp().tolist()
        found[f"{name}_test_perplexity"] = (
            (test.gather(0, best[None])[0] / len(text.test[name])).exp().tolist()
        )
        found[f"{name}_accuracy"] = ((hits + validation_hits) / count).tolist()
    found["aligned"] = _aligned(models.embeddings()).tolist()
    return found


def _losses(models: ManyModels, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return summed losses at all temperatures (temperatures, models) and correct predictions."""
    context = models.skeleton.architecture.shape.context
    embeddings = models.embeddings()
    count = (len(ids) - 1) // context
    inputs = ids[: count * context].view(count, context).to(embeddings.device)
    targets = ids[1 : count * context + 1].view(count, context).to(embeddings.device)
    losses = torch.zeros(len(TEMPERATURES), len(embeddings), device=embeddings.device)
    hits = torch.zeros(len(embeddings), device=embeddings.device)
    for part, target in zip(torch.split(inputs, 32), torch.split(targets, 32), strict=True):
        logits = models.logits(part)
        wanted = target.expand(len(embeddings), *target.shape)
        hits += (logits.argmax(-1) == wanted).flatten(1).sum(1)
        for number, temperature in enumerate(TEMPERATURES):
            each = functional.cross_entropy(
                (logits / temperature).flatten(0, 2), wanted.flatten(), reduction="none"
            )
            losses[number] += each.view(len(embeddings), -1).sum(1)
    return losses * (len(ids) / (count * context)), hits * (len(ids) / (count * context))


def _aligned(embeddings: Tensor) -> Tensor:
    """Return the fraction of small letters whose nearest big letter is their own: (models,)."""
    big, small = embeddings.chunk(2, 1)
    big = functional.normalize(big - big.mean(1, keepdim=True), dim=-1)
    small = functional.normalize(small - small.mean(1, keepdim=True), dim=-1)
    nearest = (small @ big.transpose(1, 2)).argmax(-1)
    own = torch.arange(big.shape[1], device=big.device)
    return (nearest == own).float().mean(1)


def _summary(row: str, step: int, found: dict[str, list[float]]) -> str:
    """Return one line: best, median and worst of each figure, in the order of their values."""
    small, big, aligned = (
        sorted(found[name]) for name in ("small_perplexity", "big_perplexity", "aligned")
    )
    return f"{step:5} {row:20} below 7: {sum(each < 7 for each in small):2}   " + "   ".join(
        f"{name} {each[0]:.2f} {median(each):.2f} {each[-1]:.2f}"
        for name, each in (("small", small), ("big", big), ("aligned", aligned))
    )


if __name__ == "__main__":
    main()
