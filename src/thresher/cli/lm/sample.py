"""thresher lm sample: generate text with a language model."""

import json

from thresher.cli.lm import options
from thresher.cli.models import load_language_model
from thresher.cli.options import Device, Json
from thresher.cli.output import print_line


def sample(
    model: options.ModelFolder,
    prompt: options.Prompt = "",
    length: options.Length = options.DEFAULT_LENGTH,
    samples: options.Samples = 1,
    temperature: options.Temperature = None,
    top_k: options.TopK = None,
    top_p: options.TopP = None,
    seed: options.SampleSeed = None,
    device: Device = None,
    as_json: Json = False,
) -> None:
    """Generate text with a language model.

    thresher lm sample my-lm
    thresher lm sample my-lm --prompt "My lord," --length 200 --seed 1
    thresher lm sample my-lm --samples 3 --top-k 50 --top-p 0.9
    """
    import torch  # noqa: PLC0415 (slow to import)

    from thresher.lm.sampling import sample_texts  # noqa: PLC0415

    trained = load_language_model(model, device=device)
    generator = torch.Generator(trained.model.device)
    if seed is None:
        generator.seed()
    else:
        generator.manual_seed(seed)
    texts = sample_texts(
        trained,
        samples=samples,
        prompt=prompt,
        length=length,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        generator=generator,
    )
    for number, text in enumerate(texts):
        if as_json:
            print_line(json.dumps({"prompt": prompt, "text": text}, ensure_ascii=False))
        else:
            print_line(("\n---\n\n" if number else "") + prompt + text)
