"""Use the margin loss in the Hugging Face Trainer: a small GPT-2 on characters, seconds on a CPU.

    pip install 'thresher[train]'
    python examples/trainer_margin_loss.py

Only `compute_loss_func` differs from the usual use of the Trainer. The script prints the held-out
loss under the full softmax after training with standard cross-entropy and with a margin of 4.
"""

import math
import tempfile
from pathlib import Path

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

from thresher.lm.losses.hugging_face import trainer_loss
from thresher.lm.tokens import learn_tokenizer

TEXT = Path(__file__).with_name("harbour.txt")
LENGTH, STEPS = 32, 150


def windows(ids: torch.Tensor) -> list[dict[str, torch.Tensor]]:
    """Return windows of the text that overlap by half, in the format of the Trainer."""
    return [{"input_ids": each, "labels": each} for each in ids.unfold(0, LENGTH, LENGTH // 2)]


def train(margin: float, ids: torch.Tensor, vocabulary: int) -> GPT2LMHeadModel:
    """Return a model trained with the margin loss; a margin of infinity is cross-entropy."""
    set_seed(0)
    config = GPT2Config(
        vocab_size=vocabulary,
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
            per_device_train_batch_size=16,
            learning_rate=3e-3,
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
            compute_loss_func=trainer_loss(margin),
        )
        trainer.train()
    return trainer.model.eval()


def main() -> None:
    """Train both models and print their held-out losses."""
    text = TEXT.read_text(encoding="utf-8")
    tokenizer = learn_tokenizer("characters", text)
    ids = torch.from_numpy(tokenizer.encode(text))
    split = len(ids) * 9 // 10
    held_out = ids[split:].unfold(0, LENGTH, LENGTH)
    for margin in (math.inf, 4.0):
        model = train(margin, ids[:split], tokenizer.vocabulary)
        with torch.no_grad():
            loss = trainer_loss(math.inf)(model(held_out), held_out).item()
        print(f"margin {margin:g}: {loss:.3f} nats per character on held-out text")


if __name__ == "__main__":
    main()
