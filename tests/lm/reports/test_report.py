"""The report: its tables show the models' metrics, and its plots exist."""

import csv
import dataclasses
import io
import math
import random

import pytest
import torch

from thresher.errors import InputError
from thresher.lm.reports import report
from thresher.lm.reports.group_losses import group_losses
from thresher.lm.reports.plots import _smooth, plot_token_frequencies
from thresher.lm.shape import Shape
from thresher.lm.tokens.characters import CharacterTokenizer
from thresher.lm.training.fit import fit_language_model
from thresher.lm.training.settings import LanguageModelSettings

SETTINGS = LanguageModelSettings(
    steps=20, batch=4, warm_up=2, evaluate_every=10, validation_tokens=500
)


def fit(*, alphabet=60, **options):
    draw = random.Random(0)
    letters = [chr(0x100 + i) for i in range(alphabet)]
    weights = [1 / (i + 1) for i in range(alphabet)]
    text = "".join(draw.choices(letters, weights, k=6000))
    shape = Shape(width=16, heads=2, layers=1, context=16)
    return fit_language_model(text, shape=shape, **{"settings": SETTINGS} | options)


@pytest.fixture(scope="module")
def models():
    settings = dataclasses.replace(SETTINGS, margin="2")
    return {"standard": fit(), "margin 2": fit(settings=settings)}


def rows_of(table):
    head, _, *rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
    return head, rows


def test_the_report_shows_the_metrics_of_each_model(models, tmp_path):
    report.write_report(models, tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    for name, trained in models.items():
        line = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
        assert f"{trained.test.loss:.4f}" in line
        assert f"{trained.test.accuracy:.4f}" in line


def test_every_plot_of_the_report_is_written(models, tmp_path):
    files = report.write_report(models, tmp_path)
    assert sorted(files) == sorted(file.name for file in tmp_path.iterdir())
    plots = [name for name in files if name.endswith(".svg")]
    assert len(plots) == 4
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    for name in plots:
        assert f"({name})" in text
        assert "</svg>" in (tmp_path / name).read_text(encoding="utf-8")


def test_models_with_the_same_token_counts_share_one_curve(models):
    def curves(models):
        return len(plot_token_frequencies(models).axes[0].lines)

    assert curves(models) == 1
    assert curves(models | {"fewer": fit(alphabet=30)}) == 2


def test_the_same_models_make_the_same_report(models, tmp_path):
    for folder in ("one", "two"):
        report.write_report(models, tmp_path / folder)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


def test_the_loss_of_a_group_is_the_mean_over_its_tokens(models):
    trained = models["standard"]
    order = trained.counts.argsort(descending=True, stable=True)
    losses = trained.test.token_losses[order]
    found = {each.name: each.loss.mean for each in group_losses(trained, trained.test)}
    assert list(found) == [f"ranks {i + 1}-{i + 10}" for i in range(0, 60, 10)]
    for i, value in enumerate(found.values()):
        assert value == pytest.approx(losses[10 * i : 10 * i + 10].nanmean().item())


def test_the_token_file_has_every_token_by_rank(models):
    trained = models["standard"]
    rows = list(csv.DictReader(io.StringIO(report.token_table(trained))))
    counts = [int(row["training_count"]) for row in rows]
    assert counts == sorted(trained.counts.tolist(), reverse=True)
    for row in rows:
        token = trained.tokenizer.names.index(row["token"])
        assert float(row["gradient_other"]) == pytest.approx(
            trained.roles.other[token].item(), rel=1e-4
        )
        seen = int(row["test_count"]) > 0
        assert bool(row["loss"]) is seen
        if seen:
            assert float(row["loss"]) == pytest.approx(
                trained.test.token_losses[token].item(), rel=1e-4
            )


def test_efficiency_is_one_if_all_tokens_are_equally_frequent():
    assert report.tokenizer_efficiency(torch.full((50,), 3)) == pytest.approx(1)
    assert report.tokenizer_efficiency(torch.tensor([97, 1, 1, 1])) < 0.1
    # H_2.5 = −log(Σ p^2.5) / 1.5 of (½, ¼, ¼), over log 3
    power = 0.5**2.5 + 2 * 0.25**2.5
    expected = -math.log(power) / 1.5 / math.log(3)
    assert report.tokenizer_efficiency(torch.tensor([2, 1, 1])) == pytest.approx(expected)


def test_a_report_needs_neither_roles_nor_common_groups(tmp_path):
    settings = dataclasses.replace(SETTINGS, label_smoothing=0.1)
    models = {"smoothed": fit(settings=settings, alphabet=15), "words": fit(alphabet=30)}
    models["smoothed"].write(tmp_path / "model")
    files = report.write_report({"smoothed": models["smoothed"]}, tmp_path / "one")
    assert "gradient-roles.svg" not in files
    assert "gradient-roles.svg" in report.write_report(models, tmp_path / "two")


def test_tokens_that_the_font_lacks_can_be_plotted(tmp_path):
    trained = fit(alphabet=12)
    odd = dataclasses.replace(trained, tokenizer=CharacterTokenizer("\n\t $^_{}\\%日😀"))
    assert "token-distribution.svg" in report.write_report({"odd": odd}, tmp_path)


def test_a_missing_column_is_an_empty_cell():
    table = report.markdown([{"": "a", "x": "1"}, {"": "b", "y": "2"}])
    assert table.splitlines() == [
        "|  | x | y |",
        "| --- | ---: | ---: |",
        "| a | 1 |  |",
        "| b |  | 2 |",
    ]


def test_a_report_needs_a_model(tmp_path):
    with pytest.raises(InputError, match="at least one model"):
        report.write_report({}, tmp_path)


def test_fractions_of_a_large_vocabulary_are_averaged_over_neighbours():
    shares = torch.rand(3, 1000, generator=torch.Generator().manual_seed(0))
    smooth = _smooth(shares)
    assert smooth[1, 500].item() == pytest.approx(shares[1, 495:506].mean().item())
    assert smooth[2, 0].item() == pytest.approx(shares[2, :6].mean().item())
    assert torch.equal(_smooth(shares[:, :100]), shares[:, :100])


def test_a_vocabulary_of_one_token_has_a_report(tmp_path):
    models = {"one": fit(alphabet=1), "two": fit(alphabet=2)}
    report.write_report(models, tmp_path / "report")
    text = (tmp_path / "report" / "report.md").read_text()
    row = next(line for line in text.splitlines() if line.startswith("| one | characters"))
    assert row.endswith("| – |")
    assert models["one"].test.loss == 0
