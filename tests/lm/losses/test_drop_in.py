"""The losses in other people's training: without other packages, as Liger's module, as a patch."""

import copy
import inspect
import math
import subprocess
import sys

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from thresher.lm.losses import (
    FusedLinearCrossEntropyLoss,
    SelfishCrossEntropy,
    apply_margin_loss,
    trainer_loss,
)
from thresher.lm.losses.kernels import chunked
from thresher.lm.losses.selfish import selfish_cross_entropy

ONLY_TORCH = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"{{name}} is not installed")

sys.meta_path.insert(0, Refuse())
import torch
from thresher.lm.losses import *

hidden, weight = torch.randn(5, 4, requires_grad=True), torch.randn(9, 4, requires_grad=True)
target = torch.arange(5)
linear_selfish_cross_entropy(hidden, weight, target, margin=2.0).backward()
FusedLinearCrossEntropyLoss(margin=2.0)(weight, hidden, target).backward()
selfish_statistics(hidden @ weight.T, target, margin=2.0)
trainer_loss(4.0)({{"logits": (hidden @ weight.T)[None]}}, target[None]).backward()
"""
OTHERS = {
    *("tokenizers", "safetensors", "typer", "rich", "regex", "transformers", "huggingface_hub"),
    *("matplotlib", "fastapi", "pyarrow", "spacy", "triton", "numpy"),
}


def test_the_losses_need_torch_and_nothing_else():
    code = ONLY_TORCH.format(packages=OTHERS)
    command = [sys.executable, "-W", "ignore", "-c", code]
    result = subprocess.run(command, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr.decode()[-2000:]


def random_case():
    generator = torch.Generator().manual_seed(0)
    hidden, weight, bias = (
        torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_()
        for shape in ((7, 5), (11, 5), (11,))
    )
    target = torch.randint(11, (7,), generator=generator)
    target[2] = -7
    return hidden, weight, bias, target


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("margin", [1.0, math.inf])
def test_the_module_has_the_interface_of_liger(reduction, margin):
    names = list(inspect.signature(FusedLinearCrossEntropyLoss).parameters)
    assert names[:7] == [
        *("ce_weight", "ignore_index", "lse_square_scale", "label_smoothing", "reduction"),
        *("softcap", "return_z_loss"),
    ]
    forward = list(inspect.signature(FusedLinearCrossEntropyLoss().forward).parameters)
    assert forward == ["lin_weight", "_input", "target", "bias"]
    hidden, weight, bias, target = random_case()
    classes = torch.linspace(0.5, 2, 11, dtype=torch.float64)
    module = FusedLinearCrossEntropyLoss(
        classes, -7, 0.01, 0.1, reduction, 9.0, return_z_loss=True, margin=margin
    )
    loss, z_loss = module(weight, hidden, target, bias)
    logits = 9 * ((hidden @ weight.T + bias) / 9).tanh()
    options = {"weight": classes, "ignore_index": -7, "reduction": reduction, "margin": margin}
    options["label_smoothing"] = 0.1
    expected = selfish_cross_entropy(logits, target, z_loss=0.01, **options)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(
        z_loss, expected.detach() - selfish_cross_entropy(logits, target, **options).detach()
    )
    outside = torch.randn_like(expected)  # with "none", each loss has a gradient of its own
    inputs = [hidden, weight, bias]
    torch.testing.assert_close(
        torch.autograd.grad(loss, inputs, outside), torch.autograd.grad(expected, inputs, outside)
    )


@pytest.mark.parametrize("implementation", ["chunked", "triton", "dense"])
@pytest.mark.parametrize("margin", [1.0, math.inf])
def test_the_z_loss_equals_that_from_logits(implementation, margin):
    from thresher.lm.losses import linear_selfish_cross_entropy  # noqa: PLC0415

    hidden, weight, bias, target = random_case()
    inputs = [each.detach().float().requires_grad_() for each in (hidden, weight, bias)]
    options = {"margin": margin, "ignore_index": -7, "z_loss": 0.1, "label_smoothing": 0.1}
    found = linear_selfish_cross_entropy(
        *inputs[:2], target, bias=inputs[2], implementation=implementation, **options
    )
    logits = inputs[0] @ inputs[1].T + inputs[2]
    expected = selfish_cross_entropy(logits, target, **options)
    lse = logits.masked_fill(
        logits < logits.gather(1, target.clamp(0)[:, None]) - margin, -math.inf
    )
    z = 0.1 * lse.logsumexp(1)[target >= 0].square().mean()
    plain = selfish_cross_entropy(logits, target, **options | {"z_loss": 0.0})
    torch.testing.assert_close(expected, plain + z)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(
        torch.autograd.grad(found, inputs),
        torch.autograd.grad(expected, inputs),
        rtol=1e-4,
        atol=1e-6,
    )


class LargestTensor(TorchDispatchMode):
    elements = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        if isinstance(out, torch.Tensor):
            self.elements = max(self.elements, out.numel())
        return out


@pytest.fixture(scope="module")
def llama():
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        hidden_size=8,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        vocab_size=200,
        bos_token_id=None,
        eos_token_id=None,
    )
    return transformers.LlamaForCausalLM(config)


@pytest.mark.parametrize("items", [None, 5])
@pytest.mark.parametrize("margin", [0.05, math.inf])
def test_a_patched_model_trains_on_the_margin_loss(llama, items, margin, monkeypatch):
    monkeypatch.setattr(chunked, "TILE_ELEMENTS", 1000)
    plain, patched = llama.train(), apply_margin_loss(copy.deepcopy(llama), margin).train()
    ids = torch.randint(200, (3, 10))
    labels = ids.clone()
    labels[0, :4] = -100
    options = {} if items is None else {"num_items_in_batch": items}
    with LargestTensor() as largest:
        loss = patched(input_ids=ids, labels=labels, **options).loss
        loss.backward()
    assert largest.elements < 3 * 10 * 200  # no logits of all positions
    logits = plain(input_ids=ids).logits[:, :-1].flatten(0, 1)
    expected = selfish_cross_entropy(
        logits,
        labels[:, 1:].flatten(),
        margin=margin,
        reduction="mean" if items is None else "sum",
    ) / (items or 1)
    torch.testing.assert_close(loss, expected)
    if margin == math.inf:
        torch.testing.assert_close(loss, plain(input_ids=ids, labels=labels, **options).loss)
    plain.zero_grad()
    expected.backward()
    for mine, its in zip(patched.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, its.grad, rtol=1e-3, atol=1e-7)


def test_a_copy_of_a_patched_model_uses_its_own_weights(llama):
    copied = copy.deepcopy(apply_margin_loss(copy.deepcopy(llama), 2.0))
    with torch.no_grad():
        for parameter in copied.parameters():
            parameter.zero_()
    ids = torch.randint(200, (2, 6))
    assert copied.train()(ids, labels=ids).loss.item() == pytest.approx(math.log(200))
    assert not copied.eval()(ids).logits.any()


def test_a_patched_model_takes_labels_by_position(llama):
    patched = apply_margin_loss(copy.deepcopy(llama), 0.05)
    ids = torch.randint(200, (2, 6))
    expected = patched(input_ids=ids, labels=ids).loss
    names = list(inspect.signature(patched.forward).parameters)
    assert names == list(inspect.signature(llama.forward).parameters)
    arguments = [ids if name in ("input_ids", "labels") else None for name in names]
    found = patched(*arguments[: names.index("labels") + 1]).loss
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


def test_a_patched_model_can_be_patched_again(llama):
    ids = torch.randint(200, (2, 6))
    patched = apply_margin_loss(apply_margin_loss(copy.deepcopy(llama), 0.05), 2.0)
    expected = apply_margin_loss(copy.deepcopy(llama), 2.0)(ids, labels=ids)
    torch.testing.assert_close(patched(ids, labels=ids).loss, expected.loss)
    mine, its = patched.eval()(ids, labels=ids), llama.eval()(ids, labels=ids)
    llama.train()
    torch.testing.assert_close((mine.loss, mine.logits), (its.loss, its.logits))


@pytest.mark.parametrize("margin", [-1.0, math.nan, "4", None, True])
def test_a_wrong_margin_is_refused_before_training(llama, margin):
    makers = (
        lambda: apply_margin_loss(copy.deepcopy(llama), margin),
        lambda: trainer_loss(margin),
        lambda: FusedLinearCrossEntropyLoss(margin=margin),
        lambda: SelfishCrossEntropy(margin),
    )
    for make in makers:
        with pytest.raises((ValueError, TypeError), match="`margin` must be"):
            make()


def test_a_patched_model_is_unchanged_in_evaluation(llama):
    patched = apply_margin_loss(copy.deepcopy(llama), 0.05).eval()
    ids = torch.randint(200, (2, 6))
    with torch.no_grad():
        mine, its = patched(ids, labels=ids), llama.eval()(ids, labels=ids)
    torch.testing.assert_close((mine.loss, mine.logits), (its.loss, its.logits))
    for other in (llama.model, torch.nn.Linear(2, 2)):
        with pytest.raises(ValueError, match="causal language model"):
            apply_margin_loss(other)


@pytest.mark.parametrize(("name", "value"), [("logit_scale", 0.5), ("output_router_logits", True)])
def test_a_model_whose_loss_has_other_parts_is_refused(llama, name, value):
    other = copy.deepcopy(llama)
    setattr(other.config, name, value)
    with pytest.raises(ValueError, match=name):
        apply_margin_loss(other)


def test_the_trainer_uses_the_patched_model(llama, tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    model = apply_margin_loss(copy.deepcopy(llama), 4.0)
    ids = [{"input_ids": row, "labels": row} for row in torch.randint(20, (16, 8))]
    arguments = transformers.TrainingArguments(
        str(tmp_path), max_steps=6, learning_rate=1e-2, use_cpu=True, report_to="none"
    )
    trainer = transformers.Trainer(model, arguments, train_dataset=ids)
    trainer.train()
    assert trainer.state.log_history[-1]["train_loss"] < math.log(200)
