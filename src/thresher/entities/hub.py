"""Models on the Hugging Face Hub, by the mixin of `huggingface_hub`.

A model is a folder here and a repository there, with the same files in it.
"""

from abc import abstractmethod
from pathlib import Path
from typing import Any, Self

from huggingface_hub import ModelHubMixin, snapshot_download

# The arguments of `__init__` that a config names, and what versions before 1.0 pass on.
_ADDED_BY_THE_MIXIN = {"encoder", "proxies", "resume_download"}


class HubModel(ModelHubMixin, library_name="thresher"):
    """`from_pretrained`, `save_pretrained` and `push_to_hub` for what is saved as a folder."""

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Nothing is noted: the mixin would copy all arguments for a config of its own."""
        return object.__new__(cls)

    @classmethod
    @abstractmethod
    def load(cls, folder: str | Path, *, device: str | None = None, exact: bool = False) -> Self:
        """From the folder that `save` made."""

    @abstractmethod
    def save(self, folder: str | Path) -> None:
        """Write a folder, its card and configuration included, whole or not at all."""

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
        """`save`, and on request `push_to_hub` under the folder's name or `repo_id`."""
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
        """A folder as it is; else the repository of that name, which is downloaded once."""
        if unknown := sorted(others.keys() - _ADDED_BY_THE_MIXIN):
            raise TypeError(f"unknown option {unknown[0]!r}; choose from device, exact")
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
