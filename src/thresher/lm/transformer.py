"""A plain modern transformer: vectors in, hidden states out, causal or looking both ways."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.errors import InputError
from thresher.lm.output_layers.module import INITIAL_SCALE, initial_weight

POSITIONS = ("rotary", "learned")
MLPS = ("gelu", "swiglu")


@dataclass(frozen=True)
class Shape:
    """How large a transformer is and what it is made of.

    context: the most tokens it reads at a time   causal: a token sees those before it alone
    """

    width: int = 128
    layers: int = 4
    heads: int = 4
    context: int = 128
    causal: bool = True
    positions: str = "rotary"
    mlp: str = "gelu"
    dropout: float = 0.0

    def __post_init__(self) -> None:
        if min(self.width, self.layers, self.heads) < 1 or self.context < 2:
            raise InputError(
                "width, layers and heads must be at least 1 and the context at least 2, got "
                f"{self.width}, {self.layers}, {self.heads} and {self.context}"
            )
        if self.width % self.heads:
            raise InputError(f"{self.heads} heads cannot share a width of {self.width} evenly")
        if self.positions == "rotary" and self.width // self.heads % 2:
            raise InputError(
                f"rotary positions need heads of an even width, got {self.width // self.heads}"
            )
        for name, value, choices in (
            ("positions", self.positions, POSITIONS),
            ("mlp", self.mlp, MLPS),
        ):
            if value not in choices:
                raise InputError(f"unknown {name} {value!r}; choose from {', '.join(choices)}")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must lie in [0, 1), got {self.dropout}")


class Transformer(nn.Module):
    """Layers of x + attention(norm x) and x + mlp(norm x), and a last norm; no biases."""

    cosines: Tensor
    sines: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        cosines, sines = rotations(shape.context, shape.width // shape.heads)
        self.register_buffer("cosines", cosines, persistent=False)
        self.register_buffer("sines", sines, persistent=False)
        self.places = (
            initial_weight(shape.context, shape.width) if shape.positions == "learned" else None
        )
        self.layers = nn.ModuleList(_Layer(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width)

    def forward(self, vectors: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """The hidden states of the last layer.

        vectors: (batch, length, width)   mask: (batch, length), False where there is padding
        returns: (batch, length, width)
        """
        return self.norm(self.each_layer(vectors, mask=mask)[-1])  # type: ignore[no-any-return]

    def each_layer(self, vectors: Tensor, *, mask: Tensor | None = None) -> list[Tensor]:
        """The vectors that go into the first layer and come out of each: layers + 1 of them."""
        length = vectors.shape[1]
        if length > self.shape.context:
            raise ValueError(f"at most {self.shape.context} tokens fit, got {length}")
        if self.places is not None:
            vectors = vectors + self.places[:length]
        vectors = functional.dropout(vectors, self.shape.dropout, self.training)
        turn = (
            (self.cosines[:length], self.sines[:length])
            if self.shape.positions == "rotary"
            else None
        )
        allowed = _allowed(mask, length, causal=self.shape.causal)
        states = [vectors]
        for layer in self.layers:
            states.append(layer(states[-1], turn, allowed))
        return states


def rotations(length: int, width: int) -> tuple[Tensor, Tensor]:
    """cos and sin of position·10000^(−2i/width), by which pair i of a head is turned.

    returns: two of (length, width / 2)
    """
    speeds = 10_000.0 ** (-torch.arange(0, width - 1, 2, dtype=torch.float64) / width)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * speeds
    return angles.cos().float(), angles.sin().float()


def turned(vectors: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Each pair (first half, second half) turned by its angle, so products see distance alone.

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

    def forward(
        self, x: Tensor, turn: tuple[Tensor, Tensor] | None, allowed: Tensor | None
    ) -> Tensor:
        x = x + self.dropout(self.attention(self.attention_norm(x), turn, allowed))
        return x + self.dropout(self.mlp(self.mlp_norm(x)))  # type: ignore[no-any-return]


class _Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.read = _linear(shape.width, 3 * shape.width)
        self.write = _linear(shape.width, shape.width, layers=shape.layers)

    def forward(
        self, x: Tensor, turn: tuple[Tensor, Tensor] | None, allowed: Tensor | None
    ) -> Tensor:
        batch, length, width = x.shape
        heads = self.read(x).view(batch, length, 3, self.shape.heads, -1)
        query, key, value = heads.permute(2, 0, 3, 1, 4)  # each (batch, heads, length, head width)
        if turn is not None:
            query, key = turned(query, *turn), turned(key, *turn)
        mixed = functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=allowed,
            dropout_p=self.shape.dropout if self.training else 0.0,
            is_causal=self.shape.causal and allowed is None,
        )
        return self.write(mixed.transpose(1, 2).reshape(batch, length, width))  # type: ignore[no-any-return]


class _Mlp(nn.Module):
    """GELU with 4·width inside, or SwiGLU with 8/3·width: as many weights either way."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gated = shape.mlp == "swiglu"
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
    """A matrix of small numbers; one that adds to the stream is smaller the more layers add."""
    linear = nn.Linear(width, out, bias=False)
    shrink = 1.0 if layers is None else (2 * layers) ** 0.5
    nn.init.normal_(linear.weight, std=INITIAL_SCALE / shrink)
    return linear


def _allowed(mask: Tensor | None, length: int, *, causal: bool) -> Tensor | None:
    """Who may look at whom: (batch, 1, length or 1, length); None where a kernel knows by itself.

    A token may always look at itself, so that padding has something to look at.
    """
    if mask is None:
        return None
    allowed = mask.bool()[:, None, None, :]
    if causal:
        allowed = allowed & mask.new_ones(length, length, dtype=torch.bool).tril()
    return allowed | torch.eye(length, dtype=torch.bool, device=mask.device)
