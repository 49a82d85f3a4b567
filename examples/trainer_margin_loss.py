"""Use the margin loss in the Hugging Face Trainer: a small GPT-2 on characters, a minute on a CPU.

    pip install '.[train]'
    python examples/trainer_margin_loss.py

Only `compute_loss_func` differs from the usual use of the Trainer. The script trains with standard
cross-entropy, with a margin of 4 and with the margin that `auto_margin` chooses, three seeds each.
It prints the held-out loss under the full softmax, over all characters and over those rarer than
the mean: the mean of the seeds, with the best and the worst one. In so short a training, a margin
of 4 is too narrow; the chosen one is wider.
"""

import math
import tempfile
from pydoc_data.topics import topics

import torch
from torch.nn import functional
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

from thresher.lm.losses import AutoMargin, auto_margin, trainer_loss
from thresher.lm.tokens import learn_tokenizer

TEXT = "\n".join(topics.values())  # Python's own documentation, about 700,000 characters
LENGTH, STEPS, BATCH, SEEDS = 64, 300, 16, 3


def windows(ids: torch.Tensor) -> list[dict[str, torch.Tensor]]:
    """Return windows of the text that overlap by half, in the format of the Trainer."""
    return [{"input_ids": each, "labels": each} for each in ids.unfold(0, LENGTH, LENGTH // 2)]


def train(
    margin: float | AutoMargin, ids: torch.Tensor, counts: torch.Tensor, seed: int
) -> GPT2LMHeadModel:
    """Return a model trained with the margin loss; a margin of infinity is cross-entropy."""
    set_seed(seed)
    config = GPT2Config(
        vocab_size=len(counts),
        n_positions=LENGTH,
        n_embd=64,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            max_steps=STEPS,
            per_device_train_batch_size=BATCH,
            learning_rate=3e-3,
            seed=seed,
            use_cpu=True,
            dataloader_pin_memory=False,
            disable_tqdm=True,
            logging_strategy="no",
            save_strategy="no",
            report_to=[],
        )
        trainer = Trainer(
            GPT2LMHeadModel(config),
            arguments,
            train_dataset=windows(ids),
            compute_loss_func=trainer_loss(margin, token_counts=counts),
        )
        trainer.train()
    return trainer.model.eval()


@torch.no_grad()
def held_out_losses(
    model: GPT2LMHeadModel, held_out: torch.Tensor, counts: torch.Tensor
) -> torch.Tensor:
    """Return the mean loss over all characters and over those rarer than the mean."""
    target = held_out[:, 1:].flatten()
    logits = model(held_out).logits[:, :-1].flatten(0, 1)
    losses = functional.cross_entropy(logits, target, reduction="none")
    is_rare = (counts < counts.float().mean())[target]
    return torch.stack([losses.mean(), losses[is_rare].mean()])


def main() -> None:
    """Train all models and print their held-out losses."""
    tokenizer = learn_tokenizer("characters", TEXT)
    ids = torch.from_numpy(tokenizer.encode(TEXT))
    split = len(ids) * 9 // 10
    held_out = ids[split:].unfold(0, LENGTH, LENGTH)
    counts = torch.bincount(ids[:split], minlength=tokenizer.vocabulary)
    chosen = auto_margin(counts, training_tokens=STEPS * BATCH * LENGTH)
    for name, margin in (
        ("standard", math.inf),
        ("margin 4", 4.0),
        (f"auto: margin {chosen.margin:g}", chosen),
    ):
        losses = torch.stack(
            [
                held_out_losses(train(margin, ids[:split], counts, seed), held_out, counts)
                for seed in range(SEEDS)
            ]
        )
        every, rare = (
            f"{each.mean():.3f} ({each.min():.3f}, {each.max():.3f})" for each in losses.T
        )
        print(f"{name:18} all characters {every} nats, rare characters {rare} nats")


if __name__ == "__main__":
    main()
