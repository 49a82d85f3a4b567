"""Train an encoder on raw text, for languages without one: a masked language model."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from thresher.encoders.choices import EncoderSize
from thresher.encoders.language_model import LanguageModelEncoder
from thresher.encoders.loading import choose_device
from thresher.errors import InputError
from thresher.lm.choices import TokenizerKind
from thresher.lm.losses.margin import Margin
from thresher.lm.shape import Shape
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.lm.training.fit import fit_language_model
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.state import TrainingProgress
from thresher.model_folder import CONFIG
from thresher.untrusted_files import read_json
from thresher.validation import require, require_choice
from thresher.work_folder import check_output_folder, work_dir_of, work_folder

MIN_WORDS = 10_000  # with fewer words, the hidden states are not useful


@dataclass(frozen=True)
class Size:
    """The shape of an encoder and its training settings."""

    shape: Shape
    settings: LanguageModelSettings


SIZES: dict[str, Size] = {
    EncoderSize.SMALL: Size(  # within an hour on two CPU cores
        Shape(width=192, layers=4, heads=4, causal=False, dropout=0.1),
        LanguageModelSettings(steps=2000, batch=32, learning_rate=1e-3, roles=False),
    ),
    EncoderSize.LARGE: Size(  # a minute on a large GPU
        Shape(width=384, layers=6, heads=6, causal=False, dropout=0.1),
        LanguageModelSettings(steps=900, batch=128, learning_rate=2e-3, warm_up=50, roles=False),
    ),
}


def train_encoder(
    sentences: Sequence[Sequence[str]],
    *,
    size: str = EncoderSize.SMALL,
    margin: Margin | str | float = "4",
    seed: int = 0,
    device: torch.device | str = "cpu",
    work_dir: Path | None = None,
    resume: bool = False,
    on_progress: Callable[[TrainingProgress], None] = lambda progress: None,
) -> TrainedLanguageModel:
    """Train a masked language model that `LanguageModelEncoder` can use.

    sentences: sequences of words
    size: an `EncoderSize`
    margin: see `Margin.parse`; "inf" is plain cross-entropy
    work_dir: a folder for checkpoints and token ids
    resume: continue from the checkpoint in `work_dir`
    """
    words = sum(map(len, sentences))
    if words < MIN_WORDS:
        raise InputError(
            f"{words:,} words are too few to train an encoder on; give at least {MIN_WORDS:,}, "
            "or use an existing encoder"
        )
    chosen = _size_settings(size, margin=margin, seed=seed, device=device)
    return fit_language_model(
        sentences_to_text(sentences),
        tokenizer=TokenizerKind.WORD_PAIRS,
        shape=chosen.shape,
        settings=chosen.settings,
        device=device,
        work_dir=work_dir,
        resume=resume,
        on_progress=on_progress,
    )


def _size_settings(
    size: str, *, seed: int, device: torch.device | str, margin: Margin | str | float = "4"
) -> Size:
    """Return the shape and the settings of a size, with those that depend on the arguments."""
    require_choice("size", size, SIZES)
    chosen = SIZES[size]
    on_gpu = torch.device(device).type == "cuda"
    settings = replace(
        chosen.settings,
        margin=Margin.parse(margin),
        seed=seed,
        precision="bfloat16" if on_gpu else "float32",
    )
    return replace(chosen, settings=settings)


def train_and_save_encoder(
    sentences: Sequence[Sequence[str]],
    folder: str | Path,
    *,
    size: str | None = None,
    layer: int | None = None,
    seed: int = 0,
    device: torch.device | str | None = None,
    force: bool = False,
    resume: bool = False,
    on_progress: Callable[[TrainingProgress], None] = lambda progress: None,
    on_note: Callable[[str], None] = lambda line: None,
) -> LanguageModelEncoder:
    """Train an encoder, save it and return it, as `thresher fit --train-encoder` does.

    sentences: sequences of words
    size: an `EncoderSize`; by default large on a GPU and small on a CPU
    layer: the layer whose hidden states are used; by default two thirds of the way up
    device: by default a GPU if there is one
    force: replace a model that is already in the folder
    resume: load the encoder if it is complete; otherwise continue a training that was stopped. A
        complete one of other text or settings is trained again with `force`, and else refused
    on_note: called with one line if a complete encoder is trained again
    """
    folder, device = Path(folder), choose_device(device)
    fingerprint = _fingerprint(sentences, size=_choose_size(size, device), seed=seed, device=device)
    if resume and _is_complete(folder, fingerprint, force=force, on_note=on_note):
        _remove_leftovers(folder)
    else:
        check_layer(layer, size=size, device=device)
        check_output_folder(folder, force=force)
        with work_folder(folder, resume=resume) as work_dir:
            trained = train_encoder(
                sentences,
                size=_choose_size(size, device),
                seed=seed,
                device=device,
                work_dir=work_dir,
                resume=resume,
                on_progress=on_progress,
            )
            replace(trained, fingerprint=fingerprint).write(folder)
    return LanguageModelEncoder.load(folder, layer=layer, device=device)


def _remove_leftovers(folder: Path) -> None:
    """Remove what is left of a run that stopped after it had saved its encoder."""
    if work_dir_of(folder).exists():
        check_output_folder(folder, force=True)
        with work_folder(folder, resume=True):
            pass


def _is_complete(
    folder: Path, fingerprint: str, *, force: bool, on_note: Callable[[str], None]
) -> bool:
    """Return whether the folder has the encoder that a run with this fingerprint would train.

    Another encoder raises InputError, unless `force` allows to replace it.
    """
    if not (folder / CONFIG).is_file():
        return False
    config = read_json(folder / CONFIG)
    if isinstance(config, dict) and config.get("fingerprint") == fingerprint:
        return True
    problem = f"{folder} was not trained on this text with these settings"
    if not force:
        raise InputError(f"{problem}; add `force` to replace it")
    on_note(f"{problem}; it is trained again")
    return False


def _fingerprint(
    sentences: Sequence[Sequence[str]], *, size: str, seed: int, device: torch.device
) -> str:
    """Return a digest that only the same sentences, shape and settings give."""
    chosen = _size_settings(size, seed=seed, device=device)
    described = json.dumps([asdict(chosen.shape), chosen.settings.as_dict()], sort_keys=True)
    digest = hashlib.blake2b(described.encode(), digest_size=32)
    for words in sentences:
        digest.update(" ".join([*words, "\n"]).encode(errors="surrogatepass"))
    return digest.hexdigest()


def _choose_size(size: str | None, device: torch.device | str) -> str:
    """Return the given size; without one, large on a GPU and small on a CPU."""
    default = EncoderSize.LARGE if torch.device(device).type == "cuda" else EncoderSize.SMALL
    return size or default


def check_layer(layer: int | None, *, size: str | None, device: torch.device | str) -> None:
    """Raise InputError if an encoder of this size will not have that layer."""
    layers = SIZES[_choose_size(size, device)].shape.layers
    require(layer is None or 1 <= layer <= layers, "layer", layer, f"between 1 and {layers}")


def sentences_to_text(sentences: Sequence[Sequence[str]]) -> str:
    """Return a text with one paragraph per sentence, which `segment` splits in the same way."""
    return "".join(" ".join(words) + "\n\n" for words in sentences)
