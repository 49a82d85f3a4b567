"""Train dozens of small language models side by side on one GPU.

The models share their architecture, corpus, batch size and number of steps. They differ in seed,
learning rate, weight decay of embeddings, margin and matching of rare tokens. Parameters are
stacked by model, one training step of all models is a vmap of the package's own model, and on a GPU
it is recorded once as a CUDA graph. Initial weights and batches are those that
`thresher.lm.training` uses for the same seed, so each model is the one that the training loop would
give, up to rounding (a test compares them).
"""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor
from torch.func import functional_call, grad_and_value, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from benchmarks.lm.corpora import Corpus
from thresher.lm.losses.margin import MarginKind
from thresher.lm.model import Architecture, LanguageModel, seeded_model
from thresher.lm.training.batches import Task
from thresher.lm.training.loop import matching_windows
from thresher.lm.training.matched_rows import OFFSET_SCALE
from thresher.lm.training.optimizer import BETAS, decay_groups, learning_rate
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.token_matching import count_pairs, match_tokens

_EPSILON = 1e-8  # of AdamW


@dataclass
class ManyModels:
    """Stacked models between two training steps.

    parameters, first_moments, second_moments: (models, …) each, by name
    match: (models, vocabulary, vocabulary), the weights of each token's matches; 0 elsewhere
    """

    skeleton: LanguageModel
    settings: Sequence[LanguageModelSettings]
    parameters: dict[str, Tensor]
    first_moments: dict[str, Tensor]
    second_moments: dict[str, Tensor]
    match: Tensor | None

    def embeddings(self) -> Tensor:
        """Return the token embeddings: (models, vocabulary, width)."""
        return self.parameters["embedding"]

    def logits(self, ids: Tensor) -> Tensor:
        """Return the logits of all models for the same inputs: (models, …, vocabulary)."""
        return vmap(self._logits, in_dims=(0, None))(self.parameters, ids)

    def _logits(self, parameters: dict[str, Tensor], ids: Tensor) -> Tensor:
        weights = parameters | {"output.weight": parameters["embedding"]}
        hidden = functional_call(self.skeleton, weights, (ids,))
        return torch.nn.functional.linear(hidden, parameters["embedding"])


def train_many(
    architecture: Architecture,
    corpus: Corpus,
    settings: Sequence[LanguageModelSettings],
    *,
    device: str,
    after_steps: Callable[[int, ManyModels], None] = lambda step, models: None,
    report_every: int | None = None,
) -> ManyModels:
    """Train one model for each of the settings, which differ in the fields named above.

    after_steps: called with the step every `report_every` steps and at the end
    """
    first = settings[0]
    models = _initial(architecture, corpus, settings, device)
    windows = _all_windows(architecture, corpus, settings)
    seeds = sorted({each.seed for each in settings})
    seed_of_model = torch.tensor([seeds.index(each.seed) for each in settings], device=device)
    step = torch.zeros(1, dtype=torch.long, device=device)
    ids = corpus.train.to(device)
    windows = windows.to(device)
    offsets = torch.arange(architecture.shape.context + 1, device=device)
    rule = _StepRule(models, device)

    def one_step() -> None:
        starts = windows.index_select(0, step)[0].index_select(0, seed_of_model)
        rule.apply(ids[starts[..., None] + offsets], step)
        step.add_(1)

    every = report_every or first.steps
    with sdpa_kernel(SDPBackend.MATH):  # the other kernels have no vmap on a CPU
        run = _recorded(one_step, models, step) if device == "cuda" else one_step
        for done in range(1, first.steps + 1):
            run()
            if done % every == 0 or done == first.steps:
                after_steps(done, models)
    return models


def _initial(
    architecture: Architecture,
    corpus: Corpus,
    settings: Sequence[LanguageModelSettings],
    device: str,
) -> ManyModels:
    matched_seeds = sorted({each.seed for each in settings if each.match_rare_tokens})
    with ThreadPoolExecutor() as pool:
        found = pool.map(partial(_match_matrix, architecture, corpus, settings[0]), matched_seeds)
        matches = dict(zip(matched_seeds, found, strict=True))
    starts: list[dict[str, Tensor]] = []
    for each in settings:
        model = seeded_model(architecture, seed=each.seed, frequencies=corpus.counts)
        if each.match_rare_tokens:
            _initialise_matched(model, matches[each.seed], each.seed)
        starts.append({name: value.detach() for name, value in model.named_parameters()})
    stacked = {
        name: torch.stack([tensors[name] for tensors in starts]).to(device) for name in starts[0]
    }
    zero = torch.zeros(architecture.vocabulary, architecture.vocabulary)
    match = torch.stack(
        [matches[each.seed] if each.match_rare_tokens else zero for each in settings]
    )
    return ManyModels(
        seeded_model(architecture, seed=0, frequencies=corpus.counts).to(device),
        settings,
        stacked,
        {name: torch.zeros_like(value) for name, value in stacked.items()},
        {name: torch.zeros_like(value) for name, value in stacked.items()},
        match.to(device) if matches else None,
    )


def _match_matrix(
    architecture: Architecture, corpus: Corpus, settings: LanguageModelSettings, seed: int
) -> Tensor:
    """Return the weights of the matches of a seed's training text: (vocabulary, vocabulary)."""
    task = Task(architecture.vocabulary, architecture.shape.context)
    windows = matching_windows(task, corpus.train, corpus.parts, replace(settings, seed=seed))
    dense = torch.zeros(task.vocabulary, task.vocabulary)
    found = match_tokens(count_pairs(windows, task.vocabulary))
    if found is not None:
        dense[found.tokens[:, None], found.matches] = found.weights
    return dense


@torch.no_grad()
def _initialise_matched(model: LanguageModel, match: Tensor, seed: int) -> None:
    """Do what `MatchedRows.initialise` does, for a matrix of matches."""
    generator = torch.Generator().manual_seed(seed)
    offset = OFFSET_SCALE * torch.randn(model.embedding.shape[1], generator=generator)
    rows = match.sum(1) > 0
    model.embedding[rows] = (match @ model.embedding)[rows] + offset


def _all_windows(
    architecture: Architecture, corpus: Corpus, settings: Sequence[LanguageModelSettings]
) -> Tensor:
    """Return the first position of each training window: (steps, seeds, batch)."""
    task = Task(architecture.vocabulary, architecture.shape.context)
    first, seeds = settings[0], sorted({each.seed for each in settings})
    positions = torch.arange(len(corpus.train))
    return torch.stack(
        [
            torch.stack(
                [
                    task.training_windows(
                        positions, size=first.batch, seed=seed, step=step, parts=corpus.parts
                    )[:, 0]
                    for seed in seeds
                ]
            )
            for step in range(first.steps)
        ]
    )


class _StepRule:
    """One AdamW step of all models, with one learning rate, margin and decay for each."""

    def __init__(self, models: ManyModels, device: str) -> None:
        self._models = models
        settings = models.settings
        first = settings[0]
        self._rates = torch.tensor(
            [[learning_rate(step, each) for each in settings] for step in range(first.steps)],
            device=device,
        )
        self._margins = torch.tensor(
            [[_margin_at(each, step) for each in settings] for step in range(first.steps)],
            device=device,
        )
        self._norm_margins = torch.tensor(
            [
                each.margin.numbers[0] if each.margin.kind == MarginKind.NORM else math.nan
                for each in settings
            ],
            device=device,
        )
        self._clips = torch.tensor([each.clip for each in settings], device=device)
        decayed, _ = decay_groups(models.skeleton, decay_embeddings=True)
        ids = {id(each) for each in decayed}
        names = {n for n, p in models.skeleton.named_parameters() if id(p) in ids}
        self._decays = {
            name: torch.tensor(
                [
                    each.weight_decay
                    if name in names and (name != "embedding" or each.decay_embeddings)
                    else 0.0
                    for each in settings
                ],
                device=device,
            )
            for name in models.parameters
        }

    def apply(self, windows: Tensor, step: Tensor) -> None:
        """Update all models on one batch each.

        windows: (models, batch, context + 1), ids   step: (1,), 0 for the first step
        """
        models = self._models
        margin = self._margins.index_select(0, step)[0]
        gradients, _ = vmap(grad_and_value(self._loss))(
            models.parameters, windows, margin, self._norm_margins
        )
        with torch.no_grad():
            self._update(gradients, self._rates.index_select(0, step)[0], step)

    def _loss(
        self, parameters: dict[str, Tensor], windows: Tensor, margin: Tensor, alpha: Tensor
    ) -> Tensor:
        """Return the mean margin loss of one model, as `selfish_cross_entropy` defines it."""
        embedding = parameters["embedding"]
        weights = parameters | {"output.weight": embedding}
        hidden = functional_call(self._models.skeleton, weights, (windows[:, :-1],))
        target = windows[:, 1:]
        logits = torch.nn.functional.linear(hidden, embedding)
        of_target = logits.gather(-1, target[..., None])
        norms = hidden.norm(dim=-1) * embedding.norm(dim=-1)[target]
        limit = torch.where(alpha.isnan(), margin, alpha.nan_to_num() * norms)[..., None]
        removed = (logits < of_target - limit).detach()
        return (logits.masked_fill(removed, -math.inf).logsumexp(-1) - of_target[..., 0]).mean()

    def _update(self, gradients: dict[str, Tensor], rate: Tensor, step: Tensor) -> None:
        models = self._models
        squares = sum(each.square().flatten(1).sum(1) for each in gradients.values())
        factor = (self._clips / (squares.sqrt() + 1e-6)).clamp(max=1.0)  # type: ignore[union-attr]
        corrections = [1 - beta ** (step + 1.0) for beta in BETAS]
        means = None if models.match is None else models.match @ models.parameters["embedding"]
        for name, value in models.parameters.items():
            shape = (-1, *[1] * (value.dim() - 1))
            gradient = gradients[name] * factor.view(shape)
            first, second = models.first_moments[name], models.second_moments[name]
            first.lerp_(gradient, 1 - BETAS[0])
            second.lerp_(gradient.square(), 1 - BETAS[1])
            value.mul_(1 - (rate * self._decays[name]).view(shape))
            scaled = (second / corrections[1]).sqrt() + _EPSILON
            value.sub_(rate.view(shape) * (first / corrections[0]) / scaled)
        if models.match is not None and means is not None:
            embedding = models.parameters["embedding"]
            kept = 1 - (rate * self._decays["embedding"]).view(-1, 1, 1)
            embedding.add_(models.match @ embedding - kept * means)


def _margin_at(settings: LanguageModelSettings, step: int) -> float:
    margin = settings.margin.at(step=step, steps=settings.steps, vocabulary=2)
    return math.inf if callable(margin) else margin


def _recorded(one_step: Callable[[], None], models: ManyModels, step: Tensor) -> Callable[[], None]:
    """Return a function that replays a step recorded as a CUDA graph."""
    state = [*models.parameters.values(), *models.first_moments.values()]
    state += [*models.second_moments.values(), step]
    saved = [each.clone() for each in state]
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):  # allocations and kernel selection happen outside the recording
            one_step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        one_step()
    for each, value in zip(state, saved, strict=True):
        each.copy_(value)
    return graph.replay
