"""Train a language model of 32,768 byte pairs with several implementations of the loss."""

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
from thresher.lm.shape import Shape
from thresher.lm.tokens.byte_pairs import BytePairTokenizer
from thresher.lm.tokens.text_range import TextRange
from thresher.lm.transformer import Transformer

IDS = ROOT / "benchmarks" / "corpora" / "pairs-32768.safetensors"
VOCABULARY = 32_768
SHAPE = Shape(width=512, layers=6, heads=8, context=256)
BATCH, STEPS, STEPS_PER_POINT = 32, 200, 20


def losses() -> dict[str, Loss]:
    """Return functions of hidden states, weight and targets; the first is the reference."""
    return {
        "margin 4, float32 logits": partial(_from_logits, margin=4.0),
        "margin 4, Triton": partial(linear_selfish_cross_entropy, margin=4.0),
        "margin 4, Triton, float32": _in_float32,
        "cross-entropy, torch": _cross_entropy,
    }


def run(device: str = "cuda") -> dict[str, Any]:
    """Train with each loss from the same weights on the same batches.

    The last row shows how far curves diverge without a reason: its initial weights are perturbed
    by a millionth.
    """
    ids, reference = token_ids().to(device), next(iter(losses().values()))
    return {
        "vocabulary": VOCABULARY,
        "positions": BATCH * SHAPE.context,
        "width": SHAPE.width,
        "steps": STEPS,
        "rows": {name: _train(loss, ids) for name, loss in losses().items()}
        | {"margin 4, float32 logits, moved": _train(reference, ids, perturbation=1e-6)},
    }


def token_ids() -> Tensor:
    """Return the raw English text as byte-pair ids, cached in a file: (tokens,)."""
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
    """Compute all logits in float32, the precision in which the kernels accumulate."""
    with torch.autocast(hidden.device.type, enabled=False):
        logits = hidden.to(weight.dtype).float() @ weight.float().T
    return selfish_cross_entropy(logits, target, margin=margin)


def _in_float32(hidden: Tensor, weight: Tensor, target: Tensor) -> Tensor:
    """Compute in float32, so that only the order of summation differs from the reference."""
    return linear_selfish_cross_entropy(hidden.float(), weight.float(), target, margin=4.0)


def _cross_entropy(hidden: Tensor, weight: Tensor, target: Tensor) -> Tensor:
    return functional.cross_entropy((hidden @ weight.T).float(), target)


def _train(loss: Loss, ids: Tensor, *, perturbation: float = 0.0) -> dict[str, Any]:
    torch.manual_seed(0)
    model = Transformer(SHAPE).to(ids.device)
    table = nn.Parameter(0.02 * torch.randn(VOCABULARY, SHAPE.width, device=ids.device))
    with torch.no_grad():
        table.add_(perturbation * torch.randn_like(table))
    optimizer = torch.optim.AdamW([*model.parameters(), table], lr=6e-4, weight_decay=0.1)
    generator = torch.Generator().manual_seed(0)
    starts = torch.randint(len(ids) - SHAPE.context - 1, (STEPS, BATCH), generator=generator)
    window = torch.arange(SHAPE.context + 1)
    events = [event() for _ in range(STEPS + 1)]
    step_losses = []
    torch.cuda.reset_peak_memory_stats()
    events[0].record()
    for step in range(STEPS):
        batch = ids[(starts[step, :, None] + window).to(ids.device)]
        with torch.autocast(ids.device.type, dtype=torch.bfloat16):
            hidden = model(functional.embedding(batch[:, :-1], table)).flatten(0, 1)
        value = loss(hidden.bfloat16(), table.bfloat16(), batch[:, 1:].flatten())
        optimizer.zero_grad()
        value.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        step_losses.append(value.detach())
        events[step + 1].record()
    torch.cuda.synchronize()
    times = [a.elapsed_time(b) for a, b in itertools.pairwise(events[20:])]
    values = torch.stack(step_losses).double()
    return {
        "curve": values.reshape(-1, STEPS_PER_POINT).mean(1).tolist(),
        "losses": [round(value, 5) for value in values.tolist()],
        "step_ms": median(times),
        "peak_mib": torch.cuda.max_memory_allocated() / 2**20,
    }
