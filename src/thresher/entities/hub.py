"""Load models from the Hugging Face Hub and push them there, with its `ModelHubMixin`.

A repository on the Hub has the same files as a model folder.
"""

from abc import abstractmethod
from pathlib import Path
from typing import Any, Self

from huggingface_hub import ModelHubMixin, snapshot_download

# Added by the mixin: arguments of `__init__` that are in the config, and options before 1.0.
_MIXIN_ARGUMENTS = {"encoder", "proxies", "resume_download"}


class HubModel(ModelHubMixin, library_name="thresher"):
    """Adds `from_pretrained`, `save_pretrained` and `push_to_hub` to a class that saves folders."""

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Create the object without the mixin, which would copy all arguments into a config."""
        return object.__new__(cls)

    @classmethod
    @abstractmethod
    def load(cls, folder: str | Path, *, device: str | None = None, exact: bool = False) -> Self:
        """Load from a folder that `save` wrote."""

    @abstractmethod
    def save(self, folder: str | Path) -> None:
        """Save a folder with the config and the model card, atomically."""

    def save_pretrained(  # type: ignore[override]  # a config is part of the model
        self,
        save_directory: str | Path,
        *,
        repo_id: str | None = None,
        push_to_hub: bool = False,
        config: None = None,
        model_card_kwargs: None = None,
        **push_to_hub_kwargs: Any,
    ) -> str | None:
        """Save a folder; optionally push it to the Hub as `repo_id` or the folder's name."""
        self.save(save_directory)
        if not push_to_hub:
            return None
        return str(self.push_to_hub(repo_id or Path(save_directory).name, **push_to_hub_kwargs))

    @classmethod
    def _from_pretrained(
        cls,
        *,
        model_id: str,
        device: str | None = None,
        exact: bool = False,
        revision: str | None = None,
        cache_dir: str | Path | None = None,
        force_download: bool = False,
        local_files_only: bool = False,
        token: str | bool | None = None,
        **others: object,
    ) -> Self:
        """Load a local folder, or download the repository of that name (once)."""
        if unknown := sorted(others.keys() - _MIXIN_ARGUMENTS):
            raise TypeError(f"unknown argument `{unknown[0]}`; choose from device, exact")
        if Path(model_id).is_dir():
            return cls.load(model_id, device=device, exact=exact)
        folder = snapshot_download(
            model_id,
            revision=revision,
            cache_dir=cache_dir,
            force_download=force_download,
            local_files_only=local_files_only,
            token=token,
        )
        return cls.load(folder, device=device, exact=exact)
