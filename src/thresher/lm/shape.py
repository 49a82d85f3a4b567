"""The size and the components of a Transformer."""

from dataclasses import dataclass

from thresher.errors import InputError
from thresher.lm.choices import FeedForward, Normalization, PositionEncoding
from thresher.validation import require_choice, require_fields, require_number

_MAX_ROTARY_VALUES = 1 << 26  # a context of a million tokens with heads of width 64


@dataclass(frozen=True)
class Shape:
    """The size and the components of a Transformer.

    width: of the hidden states   context: the maximum length of the input, in tokens
    causal: whether a token attends only to itself and the tokens before it
    positions: a `PositionEncoding`   mlp: a `FeedForward`   norm: a `Normalization`
    bias: whether linear maps and LayerNorm have biases
    inner: the width inside the feed-forward block; by default 4 × width, for SwiGLU 8/3 × width
    key_heads: the number of heads of keys and values, each shared by several heads of queries; by
        default as many as `heads`
    rotary_base: rotary positions turn the slowest pair by about 1 / rotary_base per token
    norm_epsilon: added to the mean square before its root; by default that of torch's module
    """

    width: int = 128
    layers: int = 4
    heads: int = 4
    context: int = 128
    causal: bool = True
    positions: str = PositionEncoding.ROTARY.value
    mlp: str = FeedForward.GELU.value
    dropout: float = 0.0
    norm: str = Normalization.RMS.value
    bias: bool = False
    inner: int | None = None
    key_heads: int | None = None
    rotary_base: float = 10_000.0
    norm_epsilon: float | None = None

    def __post_init__(self) -> None:
        require_fields(self, ("width", "layers", "heads", "inner", "key_heads"), at_least=1)
        require_number("context", self.context, at_least=2)
        require_number("dropout", self.dropout, at_least=0, below=1)
        require_number("rotary_base", self.rotary_base, above=1, below=float("inf"))
        require_fields(self, ("norm_epsilon",), above=0, below=1)
        require_choice("positions", self.positions, PositionEncoding)
        require_choice("mlp", self.mlp, FeedForward)
        require_choice("norm", self.norm, Normalization)
        if self.width % self.heads:
            raise InputError(
                f"`width` must be a multiple of `heads`, got {self.width} and {self.heads}"
            )
        if self.heads % self.number_of_key_heads:
            raise InputError(
                f"`heads` must be a multiple of `key_heads`, got {self.heads} and {self.key_heads}"
            )
        if self.positions == PositionEncoding.ROTARY and self.head_width % 2:
            raise InputError(
                "rotary positions need an even width of each head (`width` / `heads`), "
                f"got {self.head_width}"
            )

    @property
    def head_width(self) -> int:
        """The width of an attention head."""
        return self.width // self.heads

    @property
    def number_of_key_heads(self) -> int:
        """The number of heads of keys and values."""
        return self.heads if self.key_heads is None else self.key_heads

    @property
    def inner_width(self) -> int:
        """The width inside the feed-forward block."""
        if self.inner is not None:
            return self.inner
        return -(-8 * self.width // 3) if self.mlp == FeedForward.SWIGLU else 4 * self.width


def require_rotary_size(shape: Shape) -> None:
    """Raise InputError if the table of `rotary_angles` would need more than some 100 MB.

    Its size depends on `context`, which appears in no weight of a saved model.
    """
    values = shape.context * shape.head_width
    if values > _MAX_ROTARY_VALUES:
        raise InputError(
            f"`context` × `width` / `heads` must be at most {_MAX_ROTARY_VALUES:,}, got {values:,}"
        )
