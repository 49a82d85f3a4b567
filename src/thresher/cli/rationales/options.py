"""The options of `thresher rationale`, in groups; the library has defaults for those not given."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from thresher.cli.errors import Problems, print_note
from thresher.cli.option_groups import (
    OptionGroup,
    argument,
    flag,
    number_option,
    option,
    rate_option,
    weight_option,
)
from thresher.cli.options import TRAINING, Encoding, Form, GatesAt, Seed
from thresher.errors import InputError
from thresher.rationales.choices import Baseline, GradientEstimator, RationaleMode
from thresher.rationales.labelled_texts import Fields, LabelledText, read_labelled
from thresher.text.choices import RecordFormat

if TYPE_CHECKING:
    from thresher.rationales.settings import RationaleSettings


ModelFolder = Annotated[
    Path,
    option("A model trained by rationale fit.", "--model", metavar="FOLDER", show_default=False),
]
LabelField = Annotated[str, option("Field with the label.", "--label-field", metavar="NAME")]
GoldField = Annotated[
    str | None,
    option(
        "Field with gold rationales, a list of start and end in characters; by default rationale, "
        "if there is one.",
        "--gold-field",
        metavar="NAME",
    ),
]
Threshold = Annotated[
    float | None,
    option(
        "Minimum P(open) of a word in a rationale; by default the threshold of the model, 0.5.",
        metavar="T",
        min=0,
        max=1,
    ),
]


@dataclass(frozen=True, kw_only=True)
class LabelledTextOptions(OptionGroup):
    """Which labelled texts to read."""

    texts: Annotated[
        list[str],
        argument(
            "JSONL, CSV or TSV files, patterns such as 'reviews/*.csv', or - for standard input; "
            "also .gz.",
            metavar="TEXTS",
        ),
    ]
    format_: Annotated[
        RecordFormat | None,
        option(
            "jsonl, csv, tsv, or lines (one text per line, without labels); by default the file "
            "name decides, and jsonl for standard input.",
            "--from",
            metavar="FORMAT",
        ),
    ] = None
    text_field: Annotated[str, option("Field with the text.", metavar="NAME")] = "text"
    encoding: Encoding = None

    def read(
        self, problems: Problems, *, label: str | None = None, gold: str | None = None
    ) -> Iterator[LabelledText]:
        """Read the texts one after another; records that cannot be read go to `problems`.

        label, gold: the fields with labels and gold rationales; None to ignore them
        """
        fields = Fields(text=self.text_field, label=label, gold=gold)
        return read_labelled(
            self.texts,
            fields=fields,
            format=self.format_,
            encoding=self.encoding,
            on_problem=problems,
            on_skipped=print_note,
        )


@dataclass(frozen=True, kw_only=True)
class ClassifierOptions(OptionGroup):
    """Which classifier the rationales explain."""

    mode: Annotated[
        RationaleMode | None,
        option(
            "frozen (default): train a classifier on whole texts, then gates that keep its "
            "predictions; joint: train both together, the classifier on gated texts.",
            metavar="NAME",
        ),
    ] = None
    from_scratch: Annotated[
        bool, flag("In joint mode, do not train the classifier before the gates.", "--from-scratch")
    ] = False
    classifier: Annotated[
        Path | None,
        option("Explain the classifier of this model instead of training one.", metavar="FOLDER"),
    ] = None

    def check(self) -> None:
        """Raise `InputError` if options contradict each other."""
        joint = self.mode == RationaleMode.JOINT
        if self.from_scratch and (not joint or self.classifier is not None):
            raise InputError(
                "`from_scratch` can be used only with `mode` joint and without `classifier`"
            )


@dataclass(frozen=True, kw_only=True)
class LossOptions(OptionGroup):
    """How many and which words to select; fields have the names of `RationaleSettings`."""

    panel = "Loss"

    expected_rate: Annotated[
        float | None,
        rate_option(
            "Fraction of words to select, by default 0.15. A Lagrange multiplier keeps the "
            "fraction at or below it, and the selection loss pulls towards it.",
            "--share",
        ),
    ] = None
    sparsity: Annotated[
        float | None,
        weight_option("Fixed weight of the fraction of selected words, instead of --share."),
    ] = None
    continuity: Annotated[
        float | None,
        weight_option(
            "Weight of the number of starts and ends of rationales per word; by default 0."
        ),
    ] = None
    continuity_target: Annotated[
        float | None,
        rate_option(
            "Keep the number of starts and ends per word at or below this value with a Lagrange "
            "multiplier."
        ),
    ] = None
    selection: Annotated[
        float | None,
        weight_option(
            "Weight of the penalty if the selected fraction differs from --share, --likely and "
            r"--unlikely (|E\[z] − π|); by default 1."
        ),
    ] = None
    selection_target: Annotated[
        float | None,
        rate_option(
            "Keep the difference in --selection at or below this value with a Lagrange multiplier.",
            metavar="GAP",
        ),
    ] = None
    likely: Annotated[
        str | None,
        option("File of words that are expected to be in rationales (π = 1).", metavar="FILE"),
    ] = None
    unlikely: Annotated[
        str | None,
        option("File of words that are not expected to be in rationales (π = 0).", metavar="FILE"),
    ] = None

    def check(self) -> None:
        """Raise `InputError` if the selection loss is configured but nothing is expected."""
        nothing_expected = self.expected_rate is None and self.sparsity is not None
        if (
            nothing_expected
            and self.likely is None
            and self.unlikely is None
            and (self.selection is not None or self.selection_target is not None)
        ):
            raise InputError("`selection` needs `expected_rate`, `likely` or `unlikely`")

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `RationaleSettings`; a fixed weight replaces the target."""
        values = self.given_options()
        values.pop("likely", None)
        values.pop("unlikely", None)
        if self.sparsity is not None:
            return {"sparsity_target": None, "expected_rate": None, **values}
        if self.expected_rate is not None:
            values["sparsity_target"] = self.expected_rate
        return values


@dataclass(frozen=True, kw_only=True)
class GateTrainingOptions(OptionGroup):
    """How gates are trained; fields have the names of `RationaleSettings`."""

    panel = TRAINING

    steps: Annotated[int | None, number_option("Number of training steps for the gates.")] = None
    seed: Seed = None
    gates_at: GatesAt = None
    form: Form = None
    estimator: Annotated[
        GradientEstimator | None,
        option(
            "How gradients reach the gates: through the sample (pathwise), or from its loss "
            "(reinforce).",
            metavar="NAME",
        ),
    ] = None
    baseline: Annotated[
        Baseline | None,
        option(
            "For reinforce: none, the moving average of losses (average), or the mean of the other "
            "samples (others).",
            metavar="NAME",
        ),
    ] = None
    samples: Annotated[int | None, number_option("Number of gate samples per text and step.")] = (
        None
    )

    def check(self) -> None:
        """Raise `InputError` if a baseline is given for another estimator."""
        if self.baseline is not None and self.estimator != GradientEstimator.REINFORCE:
            raise InputError("`baseline` needs `estimator` reinforce")


def rationale_settings(
    classifier: ClassifierOptions, loss: LossOptions, gates: GateTrainingOptions
) -> "RationaleSettings":
    """Check the options and return the settings for those that were given."""
    for group in (classifier, gates, loss):
        group.check()
    from thresher.gates.selector import require_rate  # noqa: PLC0415 (torch)
    from thresher.rationales.settings import RationaleSettings  # noqa: PLC0415

    if loss.expected_rate is not None:
        require_rate("expected_rate", loss.expected_rate, gates.form or RationaleSettings.form)
    values = loss.arguments() | gates.given_options()
    if classifier.mode is not None:
        values["mode"] = classifier.mode
    return RationaleSettings(head_start=not classifier.from_scratch, **values)
