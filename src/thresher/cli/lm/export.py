"""thresher lm export: write a language model for Hugging Face transformers."""

import json

from thresher.cli.lm.options import ExportFolder, ModelFolder
from thresher.cli.models import load_language_model
from thresher.cli.options import Force, Json, Quiet
from thresher.cli.output import print_line
from thresher.errors import InputError


def export(
    model: ModelFolder,
    output: ExportFolder,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a language model as a folder that Hugging Face transformers loads.

    thresher lm export my-lm -o my-lm-hf

    In Python, AutoModelForCausalLM.from_pretrained("my-lm-hf") loads the folder;
    the logits are the same. lm train continues from it with --init-from.
    """
    from thresher.lm.pretrained.folder import export_model  # noqa: PLC0415 (torch)

    if output.exists() and not output.is_dir():
        raise InputError(f"{output} exists and is not a folder; choose another name")
    if output.exists() and not force and any(output.iterdir()):
        raise InputError(f"{output} exists; choose another folder, or add `force` to replace it")
    trained = load_language_model(model, device="cpu")
    files = export_model(trained, output)
    if as_json:
        print_line(json.dumps({"model": str(output), "files": files}))
    elif not quiet:
        tokenizer = "" if "tokenizer.json" in files else ", without its tokenizer"
        print_line(f"{output}: {len(files)} files for AutoModelForCausalLM{tokenizer}")
