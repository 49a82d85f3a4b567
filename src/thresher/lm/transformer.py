"""A Transformer with pre-norm layers: vectors in, hidden states out."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.errors import InputError
from thresher.lm.choices import FeedForward, PositionEncoding
from thresher.lm.output_layers.module import INITIAL_SCALE, initial_weight
from thresher.validation import require_choice, require_fields, require_number

_MAX_ROTARY_VALUES = 1 << 26  # a context of a million tokens with heads of width 64

RotaryAngles = tuple[Tensor, Tensor]  # cosines and sines: (length, head width / 2) each


@dataclass(frozen=True)
class Shape:
    """The size and the components of a Transformer.

    width: of the hidden states   context: the maximum length of the input, in tokens
    causal: whether a token attends only to itself and the tokens before it
    positions: a `PositionEncoding`   mlp: a `FeedForward`
    """

    width: int = 128
    layers: int = 4
    heads: int = 4
    context: int = 128
    causal: bool = True
    positions: str = PositionEncoding.ROTARY.value
    mlp: str = FeedForward.GELU.value
    dropout: float = 0.0

    def __post_init__(self) -> None:
        require_fields(self, ("width", "layers", "heads"), at_least=1)
        require_number("context", self.context, at_least=2)
        require_number("dropout", self.dropout, at_least=0, below=1)
        require_choice("positions", self.positions, PositionEncoding)
        require_choice("mlp", self.mlp, FeedForward)
        if self.width % self.heads:
            raise InputError(
                f"`width` must be a multiple of `heads`, got {self.width} and {self.heads}"
            )
        if self.positions == PositionEncoding.ROTARY and self.width // self.heads % 2:
            raise InputError(
                "rotary positions need an even width of each head (`width` / `heads`), "
                f"got {self.width // self.heads}"
            )


class Transformer(nn.Module):
    """Layers of x + attention(norm x) and x + mlp(norm x), and a final norm; no biases."""

    cosines: Tensor
    sines: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        cosines, sines = rotary_angles(shape.context, shape.width // shape.heads)
        self.register_buffer("cosines", cosines, persistent=False)
        self.register_buffer("sines", sines, persistent=False)
        self.position_embedding = (
            initial_weight(shape.context, shape.width)
            if shape.positions == PositionEncoding.LEARNED
            else None
        )
        self.layers = nn.ModuleList(_Layer(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width)

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


def rotary_angles(length: int, width: int) -> RotaryAngles:
    """Return cos and sin of position·10000^(−2i/width), the rotation of pair i of a head.

    returns: (length, width / 2) each
    """
    speeds = 10_000.0 ** (-torch.arange(0, width - 1, 2, dtype=torch.float64) / width)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * speeds
    return angles.cos().float(), angles.sin().float()


def require_rotary_size(shape: Shape) -> None:
    """Raise InputError if the table of `rotary_angles` would need more than some 100 MB.

    Its size depends on `context`, which appears in no weight of a saved model.
    """
    values = shape.context * (shape.width // shape.heads)
    if values > _MAX_ROTARY_VALUES:
        raise InputError(
            f"`context` × `width` / `heads` must be at most {_MAX_ROTARY_VALUES:,}, got {values:,}"
        )


def rotate(vectors: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Rotate each pair (i of the first half, i of the second half) by its angle.

    The product of two rotated vectors then depends on the distance of their positions only.

    vectors: (…, length, width)   cosines, sines: (length, width / 2)
    """
    left, right = vectors.chunk(2, -1)
    cosines, sines = cosines.to(vectors.dtype), sines.to(vectors.dtype)
    return torch.cat([left * cosines - right * sines, left * sines + right * cosines], -1)


class _Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(shape.width)
        self.attention = _Attention(shape)
        self.mlp_norm = nn.RMSNorm(shape.width)
        self.mlp = _Mlp(shape)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, x: Tensor, angles: RotaryAngles | None, allowed: Tensor | None) -> Tensor:
        x = x + self.dropout(self.attention(self.attention_norm(x), angles, allowed))
        return x + self.dropout(self.mlp(self.mlp_norm(x)))  # type: ignore[no-any-return]


class _Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.qkv = _linear(shape.width, 3 * shape.width)
        self.output = _linear(shape.width, shape.width, layers=shape.layers)

    def forward(self, x: Tensor, angles: RotaryAngles | None, allowed: Tensor | None) -> Tensor:
        batch, length, width = x.shape
        heads = self.qkv(x).view(batch, length, 3, self.shape.heads, -1)
        query, key, value = heads.permute(2, 0, 3, 1, 4)  # each (batch, heads, length, head width)
        if angles is not None:
            query, key = rotate(query, *angles), rotate(key, *angles)
        mixed = functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=allowed,
            dropout_p=self.shape.dropout if self.training else 0.0,
            is_causal=self.shape.causal and allowed is None,
        )
        return self.output(mixed.transpose(1, 2).reshape(batch, length, width))  # type: ignore[no-any-return]


class _Mlp(nn.Module):
    """GELU with an inner width of 4·width, or SwiGLU with 8/3·width: equally many weights."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gated = shape.mlp == FeedForward.SWIGLU
        inner = -(-8 * shape.width // 3) if self.gated else 4 * shape.width
        self.up = _linear(shape.width, 2 * inner if self.gated else inner)
        self.down = _linear(inner, shape.width, layers=shape.layers)

    def forward(self, x: Tensor) -> Tensor:
        x = self.up(x)
        if self.gated:
            gate, x = x.chunk(2, -1)
            x = functional.silu(gate) * x
        else:
            x = functional.gelu(x)
        return self.down(x)  # type: ignore[no-any-return]


def _linear(width: int, out: int, *, layers: int | None = None) -> nn.Linear:
    """Return a linear map without bias and with small initial weights.

    layers: given for maps whose output is added to the residual stream; the more layers add to it,
        the smaller are the initial weights
    """
    linear = nn.Linear(width, out, bias=False)
    divisor = 1.0 if layers is None else (2 * layers) ** 0.5
    nn.init.normal_(linear.weight, std=INITIAL_SCALE / divisor)
    return linear


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
