"""The options of `thresher lm`, in groups; the library has defaults for those not given."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from thresher.cli.option_groups import (
    OptionGroup,
    argument,
    flag,
    number_option,
    option,
    rate_option,
)
from thresher.cli.option_parsers import parse_margin
from thresher.cli.options import TRAINING, Seed, output_folder_option, seed_option
from thresher.lm.choices import (
    FeedForward,
    Normalization,
    Objective,
    OutputLayerName,
    PositionEncoding,
    Precision,
    TokenizerKind,
)
from thresher.lm.losses.margin import Margin
from thresher.lm.output_layers.choices import TIED_LAYERS

DEFAULT_LENGTH = 500

_MODEL = "Model"

ModelFolder = Annotated[Path, argument("A folder made by lm train.", metavar="MODEL")]
ModelFolders = Annotated[list[Path], argument("Folders made by lm train.", metavar="MODELS")]
ReportFolder = Annotated[Path, output_folder_option("Folder for the report.")]
TestSources = Annotated[
    list[str] | None,
    argument(
        "Texts to evaluate on; by default the results on the test split are shown.",
        metavar="SOURCES",
    ),
]
Prompt = Annotated[str, option("Text that the sample continues.", metavar="TEXT")]
Length = Annotated[int, option("Number of tokens to sample.", metavar="N", min=0)]
Temperature = Annotated[
    float | None,
    option(
        "Below 1 less random, above 1 more random, 0 always the most likely token; by default the "
        "best on the validation split.",
        metavar="T",
        min=0,
    ),
]
Samples = Annotated[int, number_option("Number of samples to print.")]
TopK = Annotated[
    int | None, number_option("Sample from the N most likely tokens only; by default from all.")
]
TopP = Annotated[
    float | None,
    option(
        "Sample from the most likely tokens with a total probability of P; by default from all.",
        metavar="P",
        min=0,
        max=1,
    ),
]
SampleSeed = Annotated[int | None, seed_option("Random seed; the same seed gives the same text.")]


@dataclass(frozen=True, kw_only=True)
class TokenizerOptions(OptionGroup):
    """How text is split into tokens."""

    panel = _MODEL

    tokens: Annotated[
        TokenizerKind | None,
        option(
            "characters, bpe (byte-level BPE), word-pairs (BPE within words, ignoring case) or "
            "words; by default characters, and word-pairs for a masked model.",
            metavar="KIND",
        ),
    ] = None
    vocabulary: Annotated[
        int | None,
        option("Vocabulary size, for bpe, word-pairs and words.", metavar="N", min=2),
    ] = None
    objective: Annotated[
        Objective,
        option(
            "causal: predict the next token; masked: predict hidden tokens, to train an encoder.",
            metavar="NAME",
        ),
    ] = Objective.CAUSAL

    @property
    def kind(self) -> TokenizerKind:
        """The tokenizer that was chosen, or the default for the objective."""
        causal = self.objective == Objective.CAUSAL
        return self.tokens or (TokenizerKind.CHARACTERS if causal else TokenizerKind.WORD_PAIRS)


@dataclass(frozen=True, kw_only=True)
class ShapeOptions(OptionGroup):
    """The size of the Transformer."""

    panel = _MODEL

    width: Annotated[int | None, number_option("Width of hidden states; by default 128.")] = None
    layers: Annotated[int | None, number_option("Number of layers; by default 4.")] = None
    heads: Annotated[
        int | None, number_option("Number of attention heads per layer; by default 4.")
    ] = None
    context: Annotated[
        int | None, number_option("Length of the context in tokens; by default 128.")
    ] = None
    dropout: Annotated[
        float | None, option("Dropout rate; by default 0.", metavar="RATE", min=0, max=1)
    ] = None


@dataclass(frozen=True, kw_only=True)
class TransformerOptions(ShapeOptions):
    """The size and the components of the Transformer."""

    positions: Annotated[
        PositionEncoding | None,
        option("rotary or learned positions; by default rotary.", metavar="NAME"),
    ] = None
    mlp: Annotated[
        FeedForward | None,
        option(
            "Feed-forward blocks: gelu, swiglu or gelu-tanh; by default gelu.",
            "--feed-forward",
            metavar="NAME",
        ),
    ] = None
    norm: Annotated[
        Normalization | None,
        option("rms, as in Llama, or layer, as in GPT-2; by default rms.", metavar="NAME"),
    ] = None
    bias: Annotated[
        bool | None,
        flag("Use biases in linear maps, as in GPT-2.", "--bias"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class OutputLayerOptions(OptionGroup):
    """The layer that predicts tokens from hidden states."""

    panel = _MODEL

    output_layer: Annotated[
        OutputLayerName,
        option(
            f"{', '.join(OutputLayerName)}. All but {', '.join(TIED_LAYERS)} need --untied.",
            metavar="NAME",
        ),
    ] = OutputLayerName.FULL
    untied: Annotated[
        bool,
        flag(
            "Do not share weights between token embeddings and the output layer.",
            "--untied",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class LanguageModelTrainingOptions(OptionGroup):
    """Hyper-parameters of training; the fields have the names of `LanguageModelSettings`."""

    panel = TRAINING

    margin: Annotated[
        Margin | None,
        option(
            "Ignore tokens whose logit is more than M below the target's. M is a number (4), a "
            "schedule (2:12), norm:0.0625, top-p:0.9, or auto, which also chooses "
            "--rare-token-budget; by default inf, plain cross-entropy.",
            parser=parse_margin,
            metavar="M",
        ),
    ] = None
    match_rare_tokens: Annotated[
        bool | None,
        flag(
            "Let the embeddings of tokens from rarely seen text, such as a small language, start "
            "at those of frequent tokens with the same neighbours, and follow them.",
            "--match-rare-tokens",
        ),
    ] = None
    steps: Annotated[int | None, number_option("Number of training steps; by default 2000.")] = None
    batch: Annotated[
        int | None, number_option("Number of windows of text per batch; by default 32.")
    ] = None
    accumulate: Annotated[
        int | None,
        number_option(
            "Number of batches per step, computed one after the other: like one large batch, with "
            "the memory of a small one. By default 1."
        ),
    ] = None
    learning_rate: Annotated[
        float | None,
        option("Highest learning rate; by default 0.001.", metavar="RATE", min=0),
    ] = None
    warm_up: Annotated[
        int | None,
        option(
            "Steps in which the learning rate rises, before it falls along half a cosine; by "
            "default 100.",
            metavar="N",
            min=0,
        ),
    ] = None
    weight_decay: Annotated[
        float | None,
        option("Weight decay of matrices; by default 0.1.", metavar="RATE", min=0),
    ] = None
    rare_token_budget: Annotated[
        float | None,
        option(
            "Make rare tokens more likely; the loss over all tokens may rise by this number of "
            "nats, for example 0.005. By default 0; --margin auto chooses it.",
            metavar="NATS",
            min=0,
        ),
    ] = None
    label_smoothing: Annotated[
        float | None,
        rate_option("Label smoothing; by default 0."),
    ] = None
    evaluate_every: Annotated[
        int | None,
        number_option(
            "Steps between evaluations on the validation split, after which a checkpoint is saved; "
            "by default 250."
        ),
    ] = None
    precision: Annotated[
        Precision | None,
        option("float32 (the default), or bfloat16 for mixed precision on a GPU.", metavar="NAME"),
    ] = None
    fused: Annotated[
        bool | None,
        flag(
            "Compute the loss without holding all logits; by default on a GPU, if it is faster.",
            "--fused/--no-fused",
        ),
    ] = None
    compile: Annotated[
        bool | None,
        flag(
            "Compile the model with torch.compile; by default large models on a GPU.",
            "--compile/--no-compile",
        ),
    ] = None
    seed: Seed = None


NoEmbeddingDecay = Annotated[
    bool,
    flag("No weight decay on token embeddings.", "--no-embedding-decay", rich_help_panel=TRAINING),
]
TensorBoard = Annotated[
    Path | None,
    option(
        "Also write the training log to this folder, for TensorBoard.",
        "--tensorboard",
        metavar="FOLDER",
        rich_help_panel=TRAINING,
    ),
]
InitFrom = Annotated[
    Path | None,
    option(
        "Continue training from this model: a folder made by lm train, or a model with the layers "
        "of GPT-2 or Llama saved by Hugging Face transformers. Its tokenizer and shape are used.",
        "--init-from",
        metavar="FOLDER",
        rich_help_panel=TRAINING,
    ),
]
ExportFolder = Annotated[Path, output_folder_option("Folder for the exported model.")]
