"""The layers of a Transformer: attention with rotary positions, and feed-forward blocks."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.lm.choices import FeedForward, Normalization
from thresher.lm.output_layers.module import INITIAL_SCALE
from thresher.lm.shape import Shape

RotaryAngles = tuple[Tensor, Tensor]  # cosines and sines: (length, head width / 2) each


class TransformerLayer(nn.Module):
    """x + attention(norm x), then x + mlp(norm x)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attention_norm = norm_layer(shape)
        self.attention = _Attention(shape)
        self.mlp_norm = norm_layer(shape)
        self.mlp = _Mlp(shape)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, x: Tensor, angles: RotaryAngles | None, allowed: Tensor | None) -> Tensor:
        """Return the hidden states after the layer: (batch, length, width).

        allowed: which token may attend to which; None for all, or all before it if causal
        """
        x = x + self.dropout(self.attention(self.attention_norm(x), angles, allowed))
        return x + self.dropout(self.mlp(self.mlp_norm(x)))  # type: ignore[no-any-return]


class _Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        heads = shape.heads + 2 * shape.number_of_key_heads
        self.qkv = _linear(shape.width, heads * shape.head_width, bias=shape.bias)
        self.output = _linear(shape.width, shape.width, bias=shape.bias, layers=shape.layers)

    def forward(self, x: Tensor, angles: RotaryAngles | None, allowed: Tensor | None) -> Tensor:
        batch, length, width = x.shape
        heads, key_heads = self.shape.heads, self.shape.number_of_key_heads
        parts = self.qkv(x).view(batch, length, -1, self.shape.head_width).transpose(1, 2)
        # each (batch, its heads, length, head width)
        query, key, value = parts.split_with_sizes((heads, key_heads, key_heads), 1)
        if angles is not None:
            query, key = rotate(query, *angles), rotate(key, *angles)
        mixed = functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=allowed,
            dropout_p=self.shape.dropout if self.training else 0.0,
            is_causal=self.shape.causal and allowed is None,
            enable_gqa=heads != key_heads,
        )
        return self.output(mixed.transpose(1, 2).reshape(batch, length, width))  # type: ignore[no-any-return]


class _Mlp(nn.Module):
    """GELU with an inner width of 4·width, or SwiGLU with 8/3·width: equally many weights."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.kind = shape.mlp
        inner = shape.inner_width
        up = 2 * inner if shape.mlp == FeedForward.SWIGLU else inner
        self.up = _linear(shape.width, up, bias=shape.bias)
        self.down = _linear(inner, shape.width, bias=shape.bias, layers=shape.layers)

    def forward(self, x: Tensor) -> Tensor:
        x = self.up(x)
        if self.kind == FeedForward.SWIGLU:
            gate, x = x.chunk(2, -1)
            x = functional.silu(gate) * x
        else:
            approximate = "tanh" if self.kind == FeedForward.GELU_TANH else "none"
            x = functional.gelu(x, approximate=approximate)
        return self.down(x)  # type: ignore[no-any-return]


def norm_layer(shape: Shape) -> nn.Module:
    """Return a new normalisation of the hidden states."""
    if shape.norm == Normalization.RMS:
        return nn.RMSNorm(shape.width, eps=shape.norm_epsilon)
    return nn.LayerNorm(shape.width, eps=shape.norm_epsilon or 1e-5, bias=shape.bias)


def _linear(width: int, out: int, *, bias: bool, layers: int | None = None) -> nn.Linear:
    """Return a linear map with small initial weights.

    layers: given for maps whose output is added to the residual stream; the more layers add to it,
        the smaller are the initial weights
    """
    linear = nn.Linear(width, out, bias=bias)
    divisor = 1.0 if layers is None else (2 * layers) ** 0.5
    nn.init.normal_(linear.weight, std=INITIAL_SCALE / divisor)
    if bias:
        nn.init.zeros_(linear.bias)
    return linear


def rotary_angles(length: int, width: int, *, base: float = 10_000.0) -> RotaryAngles:
    """Return cos and sin of position·base^(−2i/width), the rotation of pair i of a head.

    returns: (length, width / 2) each
    """
    speeds = base ** (-torch.arange(0, width - 1, 2, dtype=torch.float64) / width)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * speeds
    return angles.cos().float(), angles.sin().float()


def rotate(vectors: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Rotate each pair (i of the first half, i of the second half) by its angle.

    The product of two rotated vectors then depends on the distance of their positions only.

    vectors: (…, length, width)   cosines, sines: (length, width / 2)
    """
    left, right = vectors.chunk(2, -1)
    cosines, sines = cosines.to(vectors.dtype), sines.to(vectors.dtype)
    return torch.cat([left * cosines - right * sines, left * sines + right * cosines], -1)
