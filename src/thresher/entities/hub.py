"""Load models from the Hugging Face Hub and push them there.

A repository on the Hub has the same files as a model folder. The methods have the names and
arguments of `huggingface_hub.ModelHubMixin`. It is not a base class, because importing it takes a
tenth of a second, which only those who use the Hub should wait for.
"""

import tempfile
from abc import abstractmethod
from pathlib import Path
from typing import Any, Self

from thresher.errors import InputError


class HubModel:
    """Adds `from_pretrained`, `save_pretrained` and `push_to_hub` to a class that saves folders."""

    @classmethod
    @abstractmethod
    def load(cls, folder: str | Path, *, device: str | None = None, exact: bool = False) -> Self:
        """Load from a folder that `save` wrote."""

    @abstractmethod
    def save(self, folder: str | Path) -> None:
        """Save a folder with the config and the model card, atomically."""

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: str | Path,
        *,
        device: str | None = None,
        exact: bool = False,
        revision: str | None = None,
        cache_dir: str | Path | None = None,
        force_download: bool = False,
        local_files_only: bool = False,
        token: str | bool | None = None,
    ) -> Self:
        """Load a local folder, or download the repository of that name (once)."""
        folder = str(pretrained_model_name_or_path)
        if not Path(folder).is_dir():
            import huggingface_hub  # noqa: PLC0415 (slow to import)

            try:
                folder = huggingface_hub.snapshot_download(
                    folder,
                    revision=revision,
                    cache_dir=cache_dir,
                    force_download=force_download,
                    local_files_only=local_files_only,
                    token=token,
                )
            except Exception as error:  # the type depends on the HTTP library of huggingface_hub
                raise InputError(
                    f"there is no model folder {folder}, and no model of this name could be "
                    f"downloaded from the Hub ({type(error).__name__})"
                ) from error
        return cls.load(folder, device=device, exact=exact)

    def save_pretrained(
        self,
        save_directory: str | Path,
        *,
        repo_id: str | None = None,
        push_to_hub: bool = False,
        **push_to_hub_kwargs: Any,
    ) -> str | None:
        """Save a folder; optionally push it to the Hub as `repo_id` or the folder's name."""
        self.save(save_directory)
        if not push_to_hub:
            return None
        return self.push_to_hub(repo_id or Path(save_directory).name, **push_to_hub_kwargs)

    def push_to_hub(
        self,
        repo_id: str,
        *,
        commit_message: str = "Push model using huggingface_hub.",
        private: bool | None = None,
        token: str | None = None,
        branch: str | None = None,
        create_pr: bool | None = None,
    ) -> str:
        """Upload the model to a repository, which is created if necessary; return its address."""
        import huggingface_hub  # noqa: PLC0415 (slow to import)

        api = huggingface_hub.HfApi(token=token)
        repo_id = api.create_repo(repo_id, private=private, exist_ok=True).repo_id
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "model"
            self.save(folder)
            address = api.upload_folder(
                repo_id=repo_id,
                repo_type="model",
                folder_path=folder,
                commit_message=commit_message,
                revision=branch,
                create_pr=create_pr,
            )
        return str(address)
