"""Choose the fastest implementation of the margin loss from hidden states."""

from importlib.util import find_spec

import torch
from torch import Tensor

from thresher.lm.losses.argument_checks import LinearInputs
from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.options import MarginLossOptions
from thresher.lm.losses.survivors import below_threshold

IMPLEMENTATIONS = ("dense", "chunked", "triton")

# Up to this size plain torch is faster on a GPU: the Triton implementation launches many kernels.
FEW_LOGITS, SMALL_WEIGHT = 2**22, 2**26
# Positions × vocabulary × width, below which two matrix products take less time than the kernels
# that record survivors to avoid them.
_MIN_RECORDED_WORK = 2**40
_SAMPLED_ROWS = 128


def fastest(inputs: LinearInputs, options: MarginLossOptions, *, summed: bool) -> str:
    """Return the name of the implementation that is expected to be the fastest.

    summed: whether only the sum of losses is needed, which the dense implementation requires
    """
    if not (inputs.input.is_cuda and suits_triton(inputs.weight, inputs.input.dtype)):
        return "chunked"
    if summed and not _pays_to_record(inputs, options):
        return "dense"
    return "chunked" if is_small(inputs.input, inputs.weight) else "triton"


def suits_triton(weight: Tensor, input_dtype: torch.dtype | None = None) -> bool:
    """Whether the Triton kernels can be used: on a CUDA device, in at most 32 bits."""
    if not (weight.is_cuda and find_spec("triton")):
        return False
    dtype = torch.promote_types(weight.dtype, input_dtype or weight.dtype)
    return dtype in (torch.float16, torch.bfloat16, torch.float32)


def is_small(input: Tensor, weight: Tensor) -> bool:
    """Whether plain torch is faster on a GPU, because there is little to compute."""
    return len(input) * len(weight) <= FEW_LOGITS and weight.numel() <= SMALL_WEIGHT


def _pays_to_record(inputs: LinearInputs, options: MarginLossOptions) -> bool:
    """Whether gradients from recorded survivors are faster than from all logits."""
    if (
        options.has_infinite_margin
        or len(inputs.input) * inputs.weight.numel() < _MIN_RECORDED_WORK
    ):
        return False
    if torch.compiler.is_compiling():  # the host cannot look at the survivors
        return True
    return survivor_fraction(inputs, options) <= 2 * Plan.recorded_fraction


@torch.no_grad()
def survivor_fraction(inputs: LinearInputs, options: MarginLossOptions) -> float:
    """Return the mean fraction of tokens that survive, estimated from 128 rows."""
    some = torch.arange(0, len(inputs.target), max(1, len(inputs.target) // _SAMPLED_ROWS))
    some = some.to(inputs.target.device)
    target, vectors = inputs.target[some].long(), inputs.input[some]
    weight = inputs.weight.to(vectors.dtype)
    bias = None if inputs.bias is None else inputs.bias.to(vectors.dtype)
    logits = options.scale(torch.nn.functional.linear(vectors, weight, bias))
    dead = below_threshold(logits, target, margin=options.for_positions(some).margin)
    counted = target != options.ignore_index
    alive = (~dead).sum(1).double() / dead.shape[1]
    return float((alive * counted).sum() / counted.sum().clamp(min=1))
