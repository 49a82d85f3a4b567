"""The encoder of `thresher fit`: an existing one, or one that is trained on the same text."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.cli.entities.fit_options import EncoderOptions, EncoderTrainingOptions
from thresher.cli.lm.inputs import chosen_device
from thresher.cli.models import load_encoder
from thresher.cli.options import ResumableModelOptions
from thresher.cli.progress import ProgressBars
from thresher.encoders.choices import EncoderSize
from thresher.errors import InputError
from thresher.work_folder import check_output_folder, work_folder

if TYPE_CHECKING:
    from thresher.encoders import Encoder
    from thresher.gates.distributed import ProcessGroup
    from thresher.lm.training.state import TrainingProgress


@dataclass(frozen=True)
class EncoderChoice:
    """Which encoder to load, or how to train one.

    model: the options of the finder; a trained encoder is saved in a folder beside it
    """

    existing: EncoderOptions
    training: EncoderTrainingOptions
    model: ResumableModelOptions
    seed: int

    def check(self, processes: "ProcessGroup", device: str | None) -> None:
        """Raise `InputError` if an encoder is to be trained but cannot be."""
        if not self.training.train_encoder:
            return
        if not processes.is_single:
            raise InputError(
                "an encoder is trained in one process; first run thresher lm train --objective "
                "masked, then give its model as `encoder`"
            )
        from thresher.encoders.training import SIZES  # noqa: PLC0415 (torch)

        layers, layer = SIZES[self._size(device)].shape.layers, self.existing.layer
        if layer is not None and layer > layers:
            raise InputError(
                f"`layer` must be from 1 to {layers} for an encoder of this size, got {layer}"
            )

    def load(self, device: str | None, *, quiet: bool) -> "Encoder | None":
        """Load the existing encoder; None if one is to be trained."""
        if self.training.train_encoder:
            return None
        return self._load(self.existing.encoder, device, quiet=quiet)

    def train(
        self, sentences: Sequence[Sequence[str]], progress: ProgressBars, device: str | None
    ) -> "Encoder":
        """Return an encoder trained on the sentences; a resumed run loads one it had finished."""
        folder = self.model.output.with_name(f"{self.model.output.name}-encoder")
        if not (self.model.resume and (folder / "config.json").is_file()):
            check_output_folder(folder, force=self.model.force)
            self._train(sentences, folder, progress, device)
        return self._load(str(folder), device, quiet=True)

    def _load(self, name: str | None, device: str | None, *, quiet: bool) -> "Encoder":
        return load_encoder(name, layer=self.existing.layer, device=device, quiet=quiet)

    def _train(
        self,
        sentences: Sequence[Sequence[str]],
        folder: Path,
        progress: ProgressBars,
        device: str | None,
    ) -> None:
        from thresher.encoders.training import train_encoder  # noqa: PLC0415 (torch)

        count_steps = progress.step_counter("encoder")

        def on_progress(training: "TrainingProgress") -> None:
            count_steps(training.step, training.steps)

        with work_folder(folder, resume=self.model.resume) as work_dir:
            encoder = train_encoder(
                sentences,
                size=self._size(device),
                seed=self.seed,
                device=chosen_device(device),
                work_dir=work_dir,
                resume=self.model.resume,
                on_progress=on_progress,
            )
            encoder.write(folder)

    def _size(self, device: str | None) -> EncoderSize:
        default = EncoderSize.LARGE if chosen_device(device).type == "cuda" else EncoderSize.SMALL
        return self.training.encoder_size or default
