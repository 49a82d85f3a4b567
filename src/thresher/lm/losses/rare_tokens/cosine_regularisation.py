"""Cosine regularisation: keep embeddings from crowding into a narrow cone (Gao et al. 2019)."""

from torch import Tensor
from torch.nn import functional


def cosine_regularisation(weight: Tensor) -> Tensor:
    """Σ_i Σ_{j≠i} cos(w_i, w_j) / V², to be added to a loss with a small factor.

    The sum over all pairs is ‖Σ ŵ‖² − Σ ‖ŵ‖², so it costs one pass over the embeddings.

    weight: (vocabulary, width)   returns: ()
    """
    unit = functional.normalize(weight, dim=-1)
    return (unit.sum(0).square().sum() - unit.square().sum()) / len(weight) ** 2
