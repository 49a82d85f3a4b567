"""A Transformer with pre-norm layers: vectors in, hidden states out."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.lm.choices import PositionEncoding
from thresher.lm.output_layers.module import initial_weight
from thresher.lm.shape import Shape
from thresher.lm.transformer_layers import TransformerLayer, norm_layer, rotary_angles


class Transformer(nn.Module):
    """Layers of x + attention(norm x) and x + mlp(norm x), and a final norm."""

    cosines: Tensor
    sines: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        cosines, sines = rotary_angles(shape.context, shape.head_width, base=shape.rotary_base)
        self.register_buffer("cosines", cosines, persistent=False)
        self.register_buffer("sines", sines, persistent=False)
        self.position_embedding = (
            initial_weight(shape.context, shape.width)
            if shape.positions == PositionEncoding.LEARNED
            else None
        )
        self.layers = nn.ModuleList(TransformerLayer(shape) for _ in range(shape.layers))
        self.norm = norm_layer(shape)

    def forward(self, vectors: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """Return the normalised hidden states of the last layer.

        vectors: (batch, length, width)   mask: (batch, length), False for padding
        returns: (batch, length, width)
        """
        return self.norm(self.hidden_states(vectors, mask=mask)[-1])  # type: ignore[no-any-return]

    def hidden_states(self, vectors: Tensor, *, mask: Tensor | None = None) -> list[Tensor]:
        """Return the input of the first layer and the output of each: layers + 1 tensors."""
        length = vectors.shape[1]
        if length > self.shape.context:
            raise ValueError(
                f"the input has {length} tokens, but the context is {self.shape.context}"
            )
        if self.position_embedding is not None:
            vectors = vectors + self.position_embedding[:length]
        vectors = functional.dropout(vectors, self.shape.dropout, self.training)
        angles = (
            (self.cosines[:length], self.sines[:length])
            if self.shape.positions == PositionEncoding.ROTARY
            else None
        )
        allowed = _attention_mask(mask, length, causal=self.shape.causal)
        states = [vectors]
        for layer in self.layers:
            states.append(layer(states[-1], angles, allowed))
        return states


def _attention_mask(mask: Tensor | None, length: int, *, causal: bool) -> Tensor | None:
    """Return which token may attend to which: (batch, 1, length or 1, length).

    None without padding: then the attention function needs no mask. A token may always attend to
    itself, because the softmax of padding would be NaN otherwise.
    """
    if mask is None:
        return None
    allowed = mask.bool()[:, None, None, :]
    if causal:
        allowed = allowed & mask.new_ones(length, length, dtype=torch.bool).tril()
    return allowed | torch.eye(length, dtype=torch.bool, device=mask.device)
