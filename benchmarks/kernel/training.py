"""A language model of 32,768 byte pairs trained end to end, the loss computed in several ways."""

import itertools
from functools import partial
from statistics import median
from typing import Any

import torch
from safetensors.torch import load_file, save
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.data import DATA, RAW_ENGLISH, ROOT
from benchmarks.kernel.timing import Loss, event
from thresher.atomic_files import write_file
from thresher.lm.losses.linear_selfish import linear_selfish_cross_entropy
from thresher.lm.losses.selfish import selfish_cross_entropy
from thresher.lm.tokens.byte_pairs import BytePairTokenizer
from thresher.lm.tokens.text_range import TextRange
from thresher.lm.transformer import Shape, Transformer

IDS = ROOT / "benchmarks" / "corpora" / "pairs-32768.safetensors"
VOCABULARY = 32_768
SHAPE = Shape(width=512, layers=6, heads=8, context=256)
BATCH, STEPS, MEANS = 32, 200, 20


def losses() -> dict[str, Loss]:
    """Of hidden states in bfloat16, the weight and targets; the first is the reference."""
    return {
        "margin 4, float32 logits": partial(_from_logits, margin=4.0),
        "margin 4, Triton": partial(linear_selfish_cross_entropy, margin=4.0),
        "margin 4, Triton, float32": _in_float32,
        "cross-entropy, torch": _cross_entropy,
    }


def run(device: str = "cuda") -> dict[str, Any]:
    """Each loss from the same start over the same batches: its course, time of a step, peak memory.

    The last row says how far curves part for no reason: its first weights are moved by a millionth.
    """
    ids, reference = token_ids().to(device), next(iter(losses().values()))
    return {
        "vocabulary": VOCABULARY,
        "positions": BATCH * SHAPE.context,
        "width": SHAPE.width,
        "steps": STEPS,
        "rows": {name: _train(loss, ids) for name, loss in losses().items()}
        | {"margin 4, float32 logits, moved": _train(reference, ids, moved=1e-6)},
    }


def token_ids() -> Tensor:
    """All raw English text as byte pairs, made once: (tokens,)."""
    if not IDS.exists():
        folder = DATA / "raw" / "eng"
        text = "\n".join((folder / name).read_text(encoding="utf-8") for name in RAW_ENGLISH)
        ids = torch.tensor(
            BytePairTokenizer.learn(TextRange.of(text), VOCABULARY).encode(text).astype("int32")
        )
        IDS.parent.mkdir(parents=True, exist_ok=True)
        write_file(IDS, save({"ids": ids}))
    return load_file(IDS)["ids"].long()


def _from_logits(hidden: Tensor, weight: Tensor, target: Tensor, *, margin: float) -> Tensor:
    """The whole logits, rounded no further than the sums of the kernels."""
    with torch.autocast(hidden.device.type, enabled=False):
        logits = hidden.to(weight.dtype).float() @ weight.float().T
    return selfish_cross_entropy(logits, target, margin=margin)


def _in_float32(hidden: Tensor, weight: Tensor, target: Tensor) -> Tensor:
    """No rounding of the logits' gradient: what is left are other orders of summing up."""
    return linear_selfish_cross_entropy(hidden.float(), weight.float(), target, margin=4.0)


def _cross_entropy(hidden: Tensor, weight: Tensor, target: Tensor) -> Tensor:
    return functional.cross_entropy((hidden @ weight.T).float(), target)


def _train(loss: Loss, ids: Tensor, *, moved: float = 0.0) -> dict[str, Any]:
    torch.manual_seed(0)
    model = Transformer(SHAPE).to(ids.device)
    table = nn.Parameter(0.02 * torch.randn(VOCABULARY, SHAPE.width, device=ids.device))
    with torch.no_grad():
        table.add_(moved * torch.randn_like(table))
    optimiser = torch.optim.AdamW([*model.parameters(), table], lr=6e-4, weight_decay=0.1)
    generator = torch.Generator().manual_seed(0)
    starts = torch.randint(len(ids) - SHAPE.context - 1, (STEPS, BATCH), generator=generator)
    window = torch.arange(SHAPE.context + 1)
    events = [event() for _ in range(STEPS + 1)]
    curve = []
    torch.cuda.reset_peak_memory_stats()
    events[0].record()
    for step in range(STEPS):
        batch = ids[(starts[step, :, None] + window).to(ids.device)]
        with torch.autocast(ids.device.type, dtype=torch.bfloat16):
            hidden = model(functional.embedding(batch[:, :-1], table)).flatten(0, 1)
        value = loss(hidden.bfloat16(), table.bfloat16(), batch[:, 1:].flatten())
        optimiser.zero_grad()
        value.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        curve.append(value.detach())
        events[step + 1].record()
    torch.cuda.synchronize()
    times = [a.elapsed_time(b) for a, b in itertools.pairwise(events[20:])]
    values = torch.stack(curve).double()
    return {
        "curve": values.reshape(-1, MEANS).mean(1).tolist(),
        "losses": [round(value, 5) for value in values.tolist()],
        "step_ms": median(times),
        "peak_mib": torch.cuda.max_memory_allocated() / 2**20,
    }
