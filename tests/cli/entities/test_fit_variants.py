"""Variants of fit and selectors of find on the command line."""

import json

import pytest

from thresher import EntityFinder

QUICK = ["--epochs", "2", "--contrast", "0"]


def learned_from(folder):
    return json.loads((folder / "config.json").read_text(encoding="utf-8"))["learned_from"]


def test_variants_reach_the_library_and_the_saved_model(run, short_corpus, tmp_path):
    words = "--unit subword --attention 2 --filter band=0.1-0.5 --sparsity 0.7".split()
    quick = ["--epochs", "2", "--contrast-share", "0.01"]
    result = run("fit", short_corpus, "-o", tmp_path / "m", *words, *quick)
    assert (result.status, result.err) == (0, "")
    record = learned_from(tmp_path / "m")["settings"]
    assert (record["unit"], record["attention"], record["sparsity"]) == ("subword", 2, 0.7)
    assert record["filter"] == {"kind": "band", "cutoff": 0.1, "upper": 0.5}
    features = EntityFinder.load(tmp_path / "m").model.features
    assert (features.unit, features.attention) == ("subword", 2)


def test_several_selectors_are_trained_and_each_can_find(run, short_corpus, tmp_path):
    words = "--selectors 2 --relation repel --divergence 0.2 --divergence-cap 0.4".split()
    words += "--sparsity 0.1 --sparsity 0.2 --target-rate none --target-rate 0.3".split()
    result = run("fit", short_corpus, "-o", tmp_path / "m", "--attention", "mean", *words, *QUICK)
    assert result.status == 0
    assert "selector 1 of 2 finds entities" in result.out
    dual = learned_from(tmp_path / "m")["settings"]["dual"]
    assert dual == {
        "selectors": 2,
        "relation": "repel",
        "weight": 0.2,
        "cap": 0.4,
        "sparsity": [0.1, 0.2],
        "target_rates": [None, 0.3],
    }
    text = "Then Magda went to Oslo in the morning.\n"
    options = ["--model", tmp_path / "m", "--threshold", "0"]
    chosen, first, second = (
        json.loads(run("find", "-", *options, *more, stdin=text).out)["spans"]
        for more in ([], ["--selector", "1"], ["--selector", "2"])
    )
    assert chosen == first
    assert first != second


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--selectors 0", "Invalid value for '--selectors': "),
        ("--selectors 2 --relation attract", "'attract' is not one of 'align', 'repel'"),
        ("--relation repel", "need --selectors of at least 2"),
        ("--sparsity 1 --sparsity 2", "need --selectors of at least 2"),
        ("--selectors 3 --sparsity 1 --sparsity 2", "one value for each of 3 selectors, got 2"),
        ("--selectors 2 --divergence-cap 0", "--divergence-cap must be above 0, got 0"),
        (
            "--selectors 2 --relation align --divergence-cap 1",
            "--divergence-cap is only used with --relation repel",
        ),
        (
            "--contrast 0 --filter low=0.3",
            "--filter is used by the contrastive loss; --contrast 0 disables it",
        ),
        ("--contrast 0 --contrast-share 1", "--contrast-share is used by the contrastive loss"),
        ("--contrast 0 --gates-at pool", "--gates-at is used by the contrastive loss"),
        ("--filter low=1.5", "'1.5' is not a number from 0 to 1"),
        ("--filter mid=0.5", "'mid' is not one of low, high, band"),
        ("--filter low", "'low' is not of the form low=0.3"),
        ("--filter band=0.5", "'band=0.5' is not of the form band=0.1-0.5"),
        ("--filter band=0.5-0.1", "`upper` must be above `cutoff`, 0.5, got 0.1"),
        ("--unit letter", "'letter' is not one of 'word', 'subword'"),
        ("--attention top", "'top' is neither the number of a layer nor the word mean"),
        ("--attention 9", "has attention in layers 1 to 6; got 9"),
        ("--target-rate 1.5", "'1.5' is not a number from 0 to 1"),
    ],
)
def test_an_invalid_variant_is_reported_in_one_line(run, short_corpus, tmp_path, words, message):
    result = run("fit", short_corpus, "-o", tmp_path / "m", *words.split())
    assert result.status in (1, 2)
    assert message in result.error_line
    assert not (tmp_path / "m").exists()


def test_a_missing_selector_is_reported_in_one_line(run, model):
    result = run("find", "-", "--model", model, "--selector", "2", stdin="It rained.\n")
    assert result.status == 1
    assert result.error_line == "the number of the selector must be 1, got 2"
