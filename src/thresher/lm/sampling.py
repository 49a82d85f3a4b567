"""Generate text with a language model."""

import torch

from thresher.errors import InputError
from thresher.lm.output_layers.module import draw
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.validation import require_number

_MIN_TEMPERATURE = 1e-30  # float32 cannot divide by less; the most likely token is taken instead


@torch.no_grad()
def sample_text(
    trained: TrainedLanguageModel,
    *,
    prompt: str = "",
    length: int = 500,
    temperature: float | None = None,
    generator: torch.Generator | None = None,
) -> str:
    """Return a continuation of the prompt, sampled token by token from softmax(log p / T).

    length: the number of tokens
    temperature: T, by default the best one on the validation text; 0 takes the most likely token
    generator: on the model's device
    """
    if not trained.architecture.shape.causal:
        raise InputError("a masked model cannot continue a text; train a causal one")
    require_number("length", length, at_least=0)
    temperature = trained.temperature if temperature is None else temperature
    require_number("temperature", temperature, at_least=0)
    model, context = trained.model.eval(), trained.architecture.shape.context
    # The model needs at least one token: without a prompt, the most frequent one.
    ids = trained.tokenizer.encode(prompt).tolist() or [int(trained.counts.argmax())]
    for _ in range(length):
        window = torch.tensor([ids[-context:]], device=model.device)
        log_p = model.output.all_log_probs(model(window)[:, -1]).float()
        if temperature < _MIN_TEMPERATURE:
            token = log_p.argmax(-1)
        else:
            token = draw((log_p / temperature).log_softmax(-1), generator)
        ids.append(int(token))
    return trained.tokenizer.decode(ids[len(ids) - length :])
