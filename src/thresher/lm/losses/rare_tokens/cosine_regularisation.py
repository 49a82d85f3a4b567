"""Cosine regularisation: keeps embeddings from crowding into a narrow cone (Gao et al. 2019)."""

from torch import Tensor
from torch.nn import functional


def cosine_regularisation(weight: Tensor) -> Tensor:
    """Return Σ_i Σ_{j≠i} cos(w_i, w_j) / V², a term to add to a loss with a small factor.

    The sum over all pairs equals ‖Σ ŵ‖² − Σ ‖ŵ‖², so it takes one pass over the embeddings.

    weight: (vocabulary, width)   returns: ()
    """
    unit = functional.normalize(weight, dim=-1)
    return (unit.sum(0).square().sum() - unit.square().sum()) / len(weight) ** 2
