"""Choose the margin and the budget for rare tokens from token counts and the length of training.

`--margin auto` is meant to be safe: the loss over all tokens should not be above that of plain
cross-entropy beyond the noise between seeds, while rare tokens get a lower one.
"""

import math
from typing import NamedTuple

from torch import Tensor

from thresher.lm.tokens.counts import unigram_distribution

MIN_MARGIN = 3.0
RARE_TOKEN_BUDGET = 0.005  # nats, less than the difference between two seeds
_WIDEST = 6.0  # margin of a text that is read once and has one kind of token


class AutoMargin(NamedTuple):
    """What `margin="auto"` stands for in one training run.

    margin: of the loss, fixed during training
    rare_token_budget: how much the loss over all tokens may rise in favour of rare ones, in nats
        (`rare_token_adjustment`)
    """

    margin: float
    rare_token_budget: float = RARE_TOKEN_BUDGET


def auto_margin(counts: Tensor, *, training_tokens: float) -> AutoMargin:
    """Return 6 + H/2 − ln(passes), at least 3, as the margin of a training run.

    H is the entropy of the token distribution in nats, `passes` is how many times the run reads its
    text (at least 1). If more tokens compete, the margin has to be wider, because tokens below it
    are never pushed down. If the text is read many times, it may be narrower: then cross-entropy
    pushes down tokens that only happened not to occur. The numbers were fitted to measured runs.

    counts: (vocabulary,), how often each token occurs in the training text
    training_tokens: the number of tokens in all training batches together
    """
    if not training_tokens > 0:
        raise ValueError(f"`training_tokens` must be positive, got {training_tokens}")
    probability = unigram_distribution(counts, len(counts))
    entropy = -(probability * probability.log()).sum().item()
    passes = max(1.0, training_tokens / max(1.0, counts.sum().item()))
    return AutoMargin(round(max(MIN_MARGIN, _WIDEST + entropy / 2 - math.log(passes)), 2))
