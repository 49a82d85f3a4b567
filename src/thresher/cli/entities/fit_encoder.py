"""The encoder of `thresher fit`: an existing one, or one that is trained on the same text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thresher.cli.entities.fit_options import EncoderOptions, EncoderTrainingOptions
from thresher.cli.models import chosen_device, load_encoder
from thresher.cli.options import ResumableModelOptions
from thresher.cli.progress import ProgressBars
from thresher.errors import InputError

if TYPE_CHECKING:
    from thresher.encoders import Encoder
    from thresher.training_processes import Processes

SEPARATOR = ","


@dataclass(frozen=True)
class EncoderChoice:
    """Which encoder to load, or how to train one.

    model: the options of the finder; a trained encoder is saved in a folder beside it
    """

    existing: EncoderOptions
    training: EncoderTrainingOptions
    model: ResumableModelOptions
    seed: int

    def check(self, processes: "Processes", device: str | None) -> None:
        """Raise `InputError` if --train-encoder was given with options that exclude it."""
        if not self.training.train_encoder:
            return
        if not processes.is_single:
            raise InputError(
                "an encoder is trained in one process; first run thresher lm train --objective "
                "masked, then give its model as `encoder`"
            )
        from thresher.encoders.training import check_layer  # noqa: PLC0415 (torch)

        check_layer(
            self.existing.layer, size=self.training.encoder_size, device=chosen_device(device)
        )

    def load(self, device: str | None, *, quiet: bool) -> "list[Encoder]":
        """Load the existing encoders; none if only a new one is used."""
        if self.training.train_encoder and self.existing.encoder is None:
            return []
        given = self.existing.encoder
        names = [None] if given is None else given.split(SEPARATOR)
        if "" in names:
            raise InputError(f"`encoder` must be a name, or several with commas, got {given!r}")
        layer = None if self.training.train_encoder else self.existing.layer
        return [load_encoder(name, layer=layer, device=device, quiet=quiet) for name in names]

    def with_trained(
        self,
        existing: "list[Encoder]",
        sentences: Sequence[Sequence[str]],
        progress: ProgressBars,
        device: str | None,
    ) -> "list[Encoder]":
        """Return the encoders to choose from, if one is trained also each joined with it."""
        if not self.training.train_encoder:
            return existing
        from thresher.encoders.joined import JoinedEncoder  # noqa: PLC0415 (torch)

        own = self._train(sentences, progress, device)
        return [own, *existing, *(JoinedEncoder([each, own]) for each in existing)]

    def _train(
        self, sentences: Sequence[Sequence[str]], progress: ProgressBars, device: str | None
    ) -> "Encoder":
        """Return an encoder trained on the sentences; a resumed run loads one it had finished."""
        from thresher.encoders.training import train_and_save_encoder  # noqa: PLC0415 (torch)

        return train_and_save_encoder(
            sentences,
            self.model.output.with_name(f"{self.model.output.name}-encoder"),
            size=self.training.encoder_size,
            layer=self.existing.layer,
            seed=self.seed,
            device=chosen_device(device),
            force=self.model.force,
            resume=self.model.resume,
            on_progress=progress.training("encoder"),
            on_note=progress.note,
        )
