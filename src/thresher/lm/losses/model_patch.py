"""Let a causal model of Hugging Face transformers compute the margin loss from hidden states."""

import math
from functools import wraps
from typing import Any, TypeVar

from torch import Tensor, nn
from torch.nn import functional

from thresher.lm.losses.linear_selfish import linear_selfish_cross_entropy

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
    decoder, head = _decoder_and_output_layer(patched)
    softcap = getattr(patched.config, "final_logit_softcapping", None)
    plain_forward = patched.forward

    @wraps(plain_forward)
    def forward(*arguments: Any, labels: Tensor | None = None, **options: Any) -> Any:
        if labels is None or not patched.training:
            return plain_forward(*arguments, labels=labels, **options)
        items = options.pop("num_items_in_batch", None)
        for name in ("logits_to_keep", "return_dict"):
            options.pop(name, None)
        outputs = decoder(*arguments, **options)
        hidden = outputs[0]
        shifted = functional.pad(labels, (0, 1), value=ignore_index)[..., 1:]
        loss = linear_selfish_cross_entropy(
            hidden.flatten(0, -2),
            head.weight,
            shifted.flatten().to(hidden.device),
            margin=margin,
            bias=head.bias,
            ignore_index=ignore_index,
            reduction="mean" if items is None else "sum",
            label_smoothing=label_smoothing,
            softcap=softcap,
            z_loss=z_loss,
        )
        return _with_loss(outputs, loss if items is None else loss / items)

    patched.forward = forward
    return model


def _decoder_and_output_layer(model: Any) -> tuple[Any, nn.Linear]:
    """Return the parts of a causal model; ValueError if the loss cannot be computed from them."""
    config = model.config
    for name in ("logit_scale", "logits_scaling"):
        if getattr(config, name, None) not in (None, 1, 1.0):
            raise ValueError(f"`model` multiplies its logits ({name}), which is not supported")
    if getattr(config, "output_router_logits", False):
        raise ValueError(
            "`model` adds a loss of its routers (output_router_logits), which is not supported"
        )
    decoder, head = model.base_model, model.get_output_embeddings()
    if decoder is model or not isinstance(head, nn.Linear):
        raise ValueError("`model` must be a causal language model with a linear output layer")
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
