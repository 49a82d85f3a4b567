import importlib.util
import math
import re
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from thresher.lm.losses.hugging_face import trainer_loss
from thresher.lm.losses.margin_choice import AutoMargin
from thresher.lm.losses.rare_tokens import rare_token_adjustment
from thresher.lm.losses.selfish import selfish_cross_entropy

LOGITS = torch.randn(2, 5, 7, generator=torch.Generator().manual_seed(0))
LABELS = torch.tensor([[1, 2, 3, -100, -100], [4, 5, 6, 0, 1]])


def test_with_shift_logits_predict_the_next_label():
    expected = selfish_cross_entropy(
        LOGITS[:, :-1].flatten(0, 1), LABELS[:, 1:].flatten(), margin=2.0
    )
    torch.testing.assert_close(trainer_loss(2.0)({"logits": LOGITS}, LABELS), expected)
    torch.testing.assert_close(trainer_loss(2.0)((LOGITS, "cache"), LABELS), expected)


def test_without_shift_logits_predict_the_label_at_their_position():
    expected = selfish_cross_entropy(LOGITS.flatten(0, 1), LABELS.flatten(), margin=2.0)
    measured = trainer_loss(2.0, shift=False)({"logits": LOGITS}, LABELS)
    torch.testing.assert_close(measured, expected)


def test_an_automatic_margin_adds_the_adjustment_of_its_budget():
    counts, chosen = torch.arange(1, 8), AutoMargin(margin=3.0, rare_token_budget=0.01)
    adjusted = LOGITS + rare_token_adjustment(counts, budget=0.01)
    expected = trainer_loss(3.0)({"logits": adjusted}, LABELS)
    measured = trainer_loss(chosen, token_counts=counts)({"logits": LOGITS}, LABELS)
    torch.testing.assert_close(measured, expected)
    with pytest.raises(ValueError, match="needs `token_counts`"):
        trainer_loss(chosen)
    with pytest.raises(ValueError, match="`token_counts` has 5 tokens, but the model predicts 7"):
        trainer_loss(chosen, token_counts=counts[:5])({"logits": LOGITS}, LABELS)


@pytest.mark.parametrize("items", [12, torch.tensor(12)])
def test_accumulated_batches_share_one_count(items):
    loss = trainer_loss(2.0)
    together = loss({"logits": LOGITS}, LABELS, num_items_in_batch=items)
    halves = [loss((LOGITS[i, None],), LABELS[i, None], items) for i in range(2)]
    torch.testing.assert_close(together, sum(halves))


def test_half_precision_is_converted_to_float32_as_in_transformers():
    half = LOGITS.bfloat16()
    measured = trainer_loss(2.0, label_smoothing=0.1)({"logits": half}, LABELS)
    expected = trainer_loss(2.0, label_smoothing=0.1)({"logits": half.float()}, LABELS)
    torch.testing.assert_close(measured, expected, rtol=0, atol=0)


def test_an_infinite_margin_is_the_loss_of_transformers():
    loss_utils = pytest.importorskip("transformers.loss.loss_utils")
    for items in (None, 12):
        expected = loss_utils.ForCausalLMLoss(LOGITS, LABELS, 7, num_items_in_batch=items)
        measured = trainer_loss(math.inf)({"logits": LOGITS}, LABELS, items)
        torch.testing.assert_close(measured, expected)


def test_the_trainer_trains_on_it(tmp_path):
    """A step over accumulated batches changes the weights as the loss computed by hand does."""
    pytest.importorskip("accelerate")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=11, n_positions=8, n_embd=8, n_layer=1, n_head=1, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    model = transformers.GPT2LMHeadModel(config)
    by_hand = transformers.GPT2LMHeadModel(config)
    by_hand.load_state_dict(model.state_dict())
    tokens = torch.randint(11, (4, 8))
    labels = tokens.clone()
    labels[:, 0] = -100  # never predicted; versions of transformers differ in counting it
    examples = [{"input_ids": i, "labels": j} for i, j in zip(tokens, labels, strict=True)]
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path), use_cpu=True, max_steps=1, per_device_train_batch_size=2,
        gradient_accumulation_steps=2, learning_rate=0.1, optim="sgd", lr_scheduler_type="constant",
        max_grad_norm=0.0, report_to=[], save_strategy="no", disable_tqdm=True, logging_steps=1,
        dataloader_pin_memory=False,
    )  # fmt: skip
    trainer = transformers.Trainer(
        model, arguments, train_dataset=examples, compute_loss_func=trainer_loss(0.1)
    )
    trainer.train()
    logits = by_hand(tokens).logits[:, :-1]
    loss = selfish_cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), margin=0.1)
    loss.backward()
    with torch.no_grad():
        for parameter in by_hand.parameters():
            parameter.sub_(0.1 * parameter.grad)
    for trained, expected in zip(model.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(trained, expected)
    assert trainer.state.log_history[0]["loss"] == pytest.approx(loss.item(), rel=1e-3)
    plain = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    assert loss < plain - 0.01


def test_the_example_runs_and_learns(capsys, monkeypatch):
    pytest.importorskip("accelerate")
    path = Path(__file__).parents[3] / "examples" / "trainer_margin_loss.py"
    spec = importlib.util.spec_from_file_location("trainer_margin_loss", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    monkeypatch.setattr(example, "STEPS", 40)
    monkeypatch.setattr(example, "SEEDS", 1)
    monkeypatch.setattr(example, "TEXT", example.TEXT[:20_000])
    example.main()
    found = re.findall(r"characters ([\d.]+) \([\d.]+, [\d.]+\) nats", capsys.readouterr().out)
    assert len(set(found)) == 6
    assert max(map(float, found[::2])) < math.log(len(set(example.TEXT))) - 0.5
