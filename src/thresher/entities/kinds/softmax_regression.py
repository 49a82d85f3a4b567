"""Fit a softmax regression, the classifier of kinds."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from thresher.entities.kinds.span_vectors import Vectors

_ITERATIONS = 60


def fit_softmax_regression(
    vectors: Vectors,
    targets: Vectors,
    weights: Vectors,
    *,
    penalty: float,
    start: tuple[Vectors, Vectors] | None = None,
) -> tuple[Vectors, Vectors]:
    """Minimise the weighted mean cross-entropy plus `penalty` ‖W‖²; return W and b.

    vectors: (examples, width)   targets: (examples, kinds), rows that sum to 1
    weights: (examples,)   start: W and b from which the search starts, by default zero
    returns: (kinds, width) and (kinds,)
    """
    x, y = torch.from_numpy(vectors), torch.from_numpy(targets.astype(np.float32))
    share = torch.from_numpy((weights / weights.sum()).astype(np.float32))
    first = start or (np.zeros((y.shape[1], x.shape[1])), np.zeros(y.shape[1]))
    weight, bias = (torch.tensor(each, dtype=torch.float32, requires_grad=True) for each in first)
    optimizer = torch.optim.LBFGS(
        [weight, bias], max_iter=_ITERATIONS, line_search_fn="strong_wolfe"
    )

    def loss() -> Tensor:
        optimizer.zero_grad()
        log_probability = functional.log_softmax(x @ weight.T + bias, dim=1)
        total = penalty * weight.square().sum() - (share[:, None] * y * log_probability).sum()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    return weight.detach().numpy(), bias.detach().numpy()
