"""Let a causal model of Hugging Face transformers compute the margin loss from hidden states."""

import math
from collections.abc import Callable
from functools import wraps
from inspect import signature
from types import MethodType
from typing import Any, TypeVar

from torch import Tensor, nn
from torch.nn import functional

from thresher.lm.losses.linear_selfish import linear_selfish_cross_entropy
from thresher.lm.losses.options import MarginLossOptions

Model = TypeVar("Model", bound=nn.Module)


def apply_margin_loss(
    model: Model,
    margin: float = math.inf,
    *,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    ignore_index: int = -100,
) -> Model:
    """Change a causal language model of transformers so that it trains on the margin loss.

    In training mode, `model(input_ids, labels=…)` then computes the loss without holding the logits
    of the vocabulary, and returns no logits. In evaluation mode and without labels nothing changes,
    so the evaluation loss is plain cross-entropy. `margin=math.inf` only saves time and memory.

    model: with a decoder (`base_model`) and a linear output layer (`get_output_embeddings`), such
        as `LlamaForCausalLM`; it is changed in place and returned
    """
    patched: Any = model
    _decoder_and_output_layer(patched)  # raises an error if there is none
    loss_options: dict[str, Any] = {
        "margin": margin,
        "ignore_index": ignore_index,
        "label_smoothing": label_smoothing,
        "softcap": getattr(patched.config, "final_logit_softcapping", None),
        "z_loss": z_loss,
    }
    MarginLossOptions(**loss_options)  # raises an error if one is out of range
    class_forward = type(patched).forward
    _, *names = signature(class_forward).parameters  # without `self`
    plain_forward = _without_self(patched)

    # The method finds all parts of the model through `self`, so that a copy of the model uses its
    # own weights.
    @wraps(class_forward)
    def forward(self: Any, *arguments: Any, **options: Any) -> Any:
        options |= dict(zip(names, arguments, strict=False))
        labels: Tensor | None = options.get("labels")
        if labels is None or not self.training:
            return plain_forward(self, **options)
        items = options.pop("num_items_in_batch", None)
        for name in ("labels", "logits_to_keep", "return_dict"):
            options.pop(name, None)
        decoder, head = _decoder_and_output_layer(self)
        outputs = decoder(**options)
        hidden = outputs[0]
        shifted = functional.pad(labels, (0, 1), value=ignore_index)[..., 1:]
        loss = linear_selfish_cross_entropy(
            hidden.flatten(0, -2),
            head.weight,
            shifted.flatten().to(hidden.device),
            bias=head.bias,
            reduction="mean" if items is None else "sum",
            **loss_options,
        )
        return _with_loss(outputs, loss if items is None else loss / items)

    patched.forward = MethodType(forward, patched)
    return model


def _without_self(model: Any) -> Callable[..., Any]:
    """Return the function of a model's `forward`, which takes the model as its first argument."""
    bound = model.forward
    if isinstance(bound, MethodType):
        return bound.__func__
    return lambda _, **options: bound(**options)  # set on the model by another library


def _decoder_and_output_layer(model: Any) -> tuple[Any, nn.Linear]:
    """Return the parts of a causal model; ValueError if the loss cannot be computed from them."""
    wrong = ValueError("`model` must be a causal language model with a linear output layer")
    config = getattr(model, "config", None)
    if config is None:
        raise wrong
    for name in ("logit_scale", "logits_scaling"):
        if getattr(config, name, None) not in (None, 1, 1.0):
            raise ValueError(f"`model` multiplies its logits ({name}), which is not supported")
    if getattr(config, "output_router_logits", False):
        raise ValueError(
            "`model` adds a loss of its routers (output_router_logits), which is not supported"
        )
    decoder, head = model.base_model, model.get_output_embeddings()
    if decoder is model or not isinstance(head, nn.Linear):
        raise wrong
    return decoder, head


def _with_loss(outputs: Any, loss: Tensor) -> Any:
    """Return the output of the decoder with a loss, as models with an output layer do."""
    from transformers.modeling_outputs import CausalLMOutputWithPast  # noqa: PLC0415

    return CausalLMOutputWithPast(
        loss=loss,  # type: ignore[arg-type]
        past_key_values=outputs.get("past_key_values"),
        hidden_states=outputs.get("hidden_states"),
        attentions=outputs.get("attentions"),
    )
