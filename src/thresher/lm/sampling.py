"""Generate text with a language model."""

import math

import torch
from torch import Tensor

from thresher.errors import InputError
from thresher.lm.output_layers.module import draw
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.validation import require_number

_MIN_TEMPERATURE = 1e-30  # float32 cannot divide by less; the most likely token is taken instead


def sample_text(
    trained: TrainedLanguageModel,
    *,
    prompt: str = "",
    length: int = 500,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> str:
    """Return a continuation of the prompt; the arguments are those of `sample_texts`."""
    return sample_texts(
        trained,
        prompt=prompt,
        length=length,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        generator=generator,
    )[0]


@torch.no_grad()
def sample_texts(
    trained: TrainedLanguageModel,
    *,
    samples: int = 1,
    prompt: str = "",
    length: int = 500,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> list[str]:
    """Return continuations of the prompt, sampled token by token from softmax(log p / T).

    samples: how many continuations   length: the number of tokens of each
    temperature: T, by default the best one on the validation text; 0 takes the most likely token
    top_k: sample from the k most likely tokens only
    top_p: sample from the smallest set of most likely tokens whose total probability reaches p
    generator: on the model's device
    """
    if not trained.architecture.shape.causal:
        raise InputError("a masked model cannot continue a text; train a causal one")
    require_number("samples", samples, at_least=1)
    require_number("length", length, at_least=0)
    temperature = trained.temperature if temperature is None else temperature
    require_number("temperature", temperature, at_least=0)
    if top_k is not None:
        require_number("top_k", top_k, at_least=1)
    if top_p is not None:
        require_number("top_p", top_p, above=0, at_most=1)
    model, context = trained.model.eval(), trained.architecture.shape.context
    # The model needs at least one token: without a prompt, the most frequent one.
    start = trained.tokenizer.encode(prompt).tolist() or [int(trained.counts.argmax())]
    ids = torch.tensor([start] * samples, device=model.device)
    for _ in range(length):
        log_p = model.output.all_log_probs(model(ids[:, -context:])[:, -1]).float()
        if temperature < _MIN_TEMPERATURE:
            token = log_p.argmax(-1)
        else:
            log_p = truncated((log_p / temperature).log_softmax(-1), top_k=top_k, top_p=top_p)
            token = draw(log_p, generator)
        ids = torch.cat([ids, token[:, None]], 1)
    return [trained.tokenizer.decode(row) for row in ids[:, len(start) :].tolist()]


def truncated(log_p: Tensor, *, top_k: int | None = None, top_p: float | None = None) -> Tensor:
    """Return the distribution over the most likely tokens: (rows, tokens), others -inf.

    First the k most likely tokens are kept, then of their distribution the smallest set of most
    likely tokens whose total probability is at least p. Tokens as likely as the last one stay.
    """
    if top_k is not None and top_k < log_p.shape[-1]:
        least = log_p.topk(top_k, -1).values[..., -1:]
        log_p = log_p.masked_fill(log_p < least, -math.inf).log_softmax(-1)
    if top_p is not None and top_p < 1:
        ordered = log_p.sort(-1, descending=True).values
        before = ordered.exp().cumsum(-1) - ordered.exp()  # the probability of likelier tokens
        least = ordered.masked_fill(before >= top_p, math.inf).min(-1, keepdim=True).values
        log_p = log_p.masked_fill(log_p < least, -math.inf).log_softmax(-1)
    return log_p
