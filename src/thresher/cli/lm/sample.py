"""thresher lm sample: generate text with a language model."""

import json

from thresher.cli.lm import options
from thresher.cli.lm.inputs import load_model
from thresher.cli.options import Device, Json
from thresher.cli.output import print_line


def sample(
    model: options.ModelFolder,
    prompt: options.Prompt = "",
    length: options.Length = options.DEFAULT_LENGTH,
    temperature: options.Temperature = None,
    seed: options.SampleSeed = None,
    device: Device = None,
    as_json: Json = False,
) -> None:
    """Generate text with a language model.

    thresher lm sample my-lm
    thresher lm sample my-lm --prompt "My lord," --length 200 --seed 1
    """
    import torch  # noqa: PLC0415 (slow to import)

    from thresher.lm.sampling import sample_text  # noqa: PLC0415

    trained = load_model(model, device=device)
    generator = torch.Generator(trained.model.device)
    if seed is None:
        generator.seed()
    else:
        generator.manual_seed(seed)
    text = sample_text(
        trained, prompt=prompt, length=length, temperature=temperature, generator=generator
    )
    if as_json:
        print_line(json.dumps({"prompt": prompt, "text": text}, ensure_ascii=False))
    else:
        print_line(prompt + text)
