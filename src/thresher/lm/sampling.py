"""Text drawn from a language model."""

import torch

from thresher.errors import InputError
from thresher.lm.output_layers.module import draw
from thresher.lm.trained_model import TrainedLanguageModel

_COLDEST = 1e-30  # a temperature by which float32 can divide


@torch.no_grad()
def sample_text(
    learned: TrainedLanguageModel,
    *,
    prompt: str = "",
    length: int = 500,
    temperature: float | None = None,
    generator: torch.Generator | None = None,
) -> str:
    """The prompt's continuation, token by token from softmax(log p / T).

    temperature: by default the best on validation; 0 takes the likeliest token each time
    generator: on the model's device
    """
    if not learned.architecture.shape.causal:
        raise InputError("a masked model fills gaps and cannot continue a text")
    if length < 0:
        raise InputError(f"a text has at least 0 tokens, got {length}")
    heat = learned.temperature if temperature is None else temperature
    if not heat >= 0:
        raise InputError(f"a temperature is at least 0, got {heat}")
    model, context = learned.model.eval(), learned.architecture.shape.context
    given = learned.tokens.encode(prompt).tolist()
    # Without a prompt, something that is often there has to come before.
    ids = given or [int(learned.counts.argmax())]
    for _ in range(length):
        window = torch.tensor([ids[-context:]], device=model.device)
        log_p = model.output.all_log_probs(model(window)[:, -1]).float()
        cold = heat < _COLDEST
        token = log_p.argmax(-1) if cold else draw((log_p / heat).log_softmax(-1), generator)
        ids.append(int(token))
    return learned.tokens.decode(ids[len(ids) - length :])
