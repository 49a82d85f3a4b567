"""The encoder that `thresher fit` reads with: one there is, or one trained from the same text."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thresher.cli.lm.inputs import chosen_device
from thresher.cli.models import load_encoder
from thresher.cli.option_values import one_of
from thresher.cli.progress import ProgressBars
from thresher.cli.work_folder import check_place, kept_work
from thresher.errors import InputError

if TYPE_CHECKING:
    from thresher.encoders import Encoder
    from thresher.gates.distributed import ProcessGroup
    from thresher.lm.training.loop import TrainingProgress as Training

SIZES = ("small", "large")

_ENCODER = "A language nobody has an encoder for"

TrainEncoder = Annotated[
    bool,
    typer.Option(
        "--train-encoder",
        metavar="",
        rich_help_panel=_ENCODER,
        help="First train an encoder from the same text; it is put beside the model, in "
        "FOLDER-encoder.",
    ),
]
EncoderSize = Annotated[
    str | None,
    typer.Option(
        parser=one_of(*SIZES),
        metavar="SIZE",
        rich_help_panel=_ENCODER,
        help="small, within an hour on two cores, or large, minutes on a GPU; by default what "
        "suits the device.",
    ),
]


def check_choice(encoder: str | None, size: str | None, *, train: bool) -> None:
    """Refuse options that contradict each other."""
    if train and encoder is not None:
        raise InputError("either --encoder names an encoder or --train-encoder makes one, not both")
    if size is not None and not train:
        raise InputError("--encoder-size is that of an encoder to be made: add --train-encoder")


@dataclass(frozen=True)
class Place:
    """Where a model is put, and whether one there is replaced or gone on with."""

    model: Path
    force: bool
    resume: bool

    @property
    def encoder(self) -> "Place":
        """Where the encoder of the model is put, if it has one of its own."""
        return replace(self, model=self.model.with_name(f"{self.model.name}-encoder"))


@dataclass(frozen=True)
class Reader:
    """The language models that a finder reads with: named, or yet to be trained."""

    name: str | None
    layer: int | None
    train: bool
    size: str | None
    seed: int | None
    surprisal: str | None

    def check(self, processes: "ProcessGroup", device: str | None) -> None:
        """Refuse to train an encoder in several processes, or one without the layer to be read."""
        if not self.train:
            return
        if not processes.is_single:
            raise InputError(
                "one process trains an encoder: first thresher lm train --objective masked, then "
                "fit --encoder"
            )
        from thresher.encoders.training import SIZES  # noqa: PLC0415 (torch)

        layers = SIZES[self._size_on(device)].shape.layers
        if self.layer is not None and self.layer > layers:
            raise InputError(f"that encoder will have layers 1 to {layers}; got layer {self.layer}")

    def _size_on(self, device: str | None) -> str:
        return self.size or ("large" if chosen_device(device).type == "cuda" else "small")

    def load(self, device: str | None, *, quiet: bool) -> "Encoder | None":
        """The encoder that was named, or the default one; None if it is yet to be trained."""
        return None if self.train else self._loaded(self.name, device, quiet=quiet)

    def _loaded(self, name: str | None, device: str | None, *, quiet: bool) -> "Encoder":
        return load_encoder(name, layer=self.layer, device=device, quiet=quiet)

    def trained(
        self,
        sentences: Sequence[Sequence[str]],
        model: Place,
        progress: ProgressBars,
        *,
        device: str | None,
    ) -> "Encoder":
        """An encoder of these sentences, in its place; after a stop, the one that was finished."""
        place = model.encoder
        if not (place.resume and (place.model / "config.json").is_file()):
            check_place(place.model, force=place.force)
            self._train(sentences, place, progress, device)
        return self._loaded(str(place.model), device, quiet=True)

    def _train(
        self,
        sentences: Sequence[Sequence[str]],
        place: Place,
        progress: ProgressBars,
        device: str | None,
    ) -> None:
        from thresher.encoders.training import train_encoder  # noqa: PLC0415 (torch)

        steps = progress.steps("encoder")

        def on_progress(training: "Training") -> None:
            steps(training.step, training.steps)

        with kept_work(place.model, resume=place.resume) as work:
            learned = train_encoder(
                sentences,
                size=self._size_on(device),
                seed=self.seed or 0,
                device=chosen_device(device),
                work_dir=work,
                resume=place.resume,
                on_progress=on_progress,
            )
            learned.write(place.model)
