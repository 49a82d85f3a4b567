"""thresher rationale: fit, find and eval on the command line."""

import csv
import json
import re

import torch

from thresher.rationales.model import RationaleModel

# fit


def test_fit_saves_a_model_and_prints_held_out_figures(run, reviews, encoder, tmp_path):
    result = run(
        "rationale", "fit", reviews, "-o", tmp_path / "m", "--encoder", encoder, "--steps", "90"
    )
    assert (result.status, result.err) == (0, "")
    pattern = (
        r".*/m: trained on [\d,]+ words in 120 texts with 2 labels; on 12 held-out texts accuracy "
        r"[01]\.\d+, from rationales alone [01]\.\d+, without them [01]\.\d+; "
        r"selects \d+\.\d% of words\n"
    )
    assert re.fullmatch(pattern, result.out)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m"]


def test_fit_prints_the_same_figures_as_json(run, reviews, encoder, tmp_path):
    place = ["-o", tmp_path / "m", "--encoder", encoder]
    result = run("rationale", "fit", reviews, *place, "--quiet", "--steps", "40", "--json")
    figures = json.loads(result.out)
    assert result.status == 0
    assert (figures["texts"], figures["labels"], figures["mode"]) == (
        120,
        ["bad", "good"],
        "frozen",
    )
    assert figures["held_out"]["texts"] == 12


def test_the_seed_determines_the_model(run, reviews, encoder, tmp_path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        given = ["-o", tmp_path / name, "--encoder", encoder, "--steps", "5", "-q", "--seed", seed]
        assert run("rationale", "fit", reviews, *given).status == 0
    weights = [(tmp_path / each / "weights.safetensors").read_bytes() for each in "abc"]
    assert weights[0] == weights[1] != weights[2]


def test_every_option_reaches_the_library(run, reviews, encoder, tmp_path):
    (tmp_path / "words.txt").write_text("soup bread", encoding="utf-8")
    given = {
        "--mode": ("mode", "joint"),
        "--form": ("form", "thresholded"),
        "--gates-at": ("gates_at", "pool"),
        "--estimator": ("estimator", "reinforce"),
        "--baseline": ("baseline", "others"),
        "--samples": ("samples", 2),
        "--continuity": ("continuity", 0.3),
        "--continuity-target": ("continuity_target", 0.2),
        "--selection": ("selection", 0.7),
        "--selection-target": ("selection_target", 0.1),
        "--steps": ("steps", 3),
        "--seed": ("seed", 4),
        "--share": ("sparsity_target", 0.3),
    }
    options = [str(part) for flag, (_, value) in given.items() for part in (flag, value)]
    place = ["-o", tmp_path / "m", "--encoder", encoder, "-q", "--from-scratch"]
    lists = ["--likely", tmp_path / "words.txt", "--unlikely", tmp_path / "words.txt"]
    result = run("rationale", "fit", reviews, *place, *options, *lists)
    assert result.status == 0, result.err
    record = json.loads((tmp_path / "m" / "config.json").read_text(encoding="utf-8"))[
        "learned_from"
    ]
    for name, value in given.values():
        assert record["settings"][name] == value
    assert record["settings"]["expected_rate"] == 0.3
    assert record["settings"]["head_start"] is False
    assert (record["likely"], record["unlikely"]) == (2, 2)


def test_a_fixed_weight_replaces_the_target_rate(run, reviews, encoder, tmp_path):
    place = ["-o", tmp_path / "m", "--encoder", encoder, "-q", "--steps", "3"]
    assert run("rationale", "fit", reviews, *place, "--sparsity", "0.4").status == 0
    record = json.loads((tmp_path / "m" / "config.json").read_text(encoding="utf-8"))
    settings = record["learned_from"]["settings"]
    assert settings["sparsity"] == 0.4
    assert settings["sparsity_target"] is settings["expected_rate"] is None


def test_tables_and_other_columns_are_read(run, encoder, tmp_path, records):
    path = tmp_path / "reviews.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "body", "stars"])
        for i, row in enumerate(records(60)):
            writer.writerow([i, row["text"], 5 if row["label"] == "good" else 1])
    place = ["-o", tmp_path / "m", "--encoder", encoder, "--steps", "5", "--json", "-q"]
    result = run("rationale", "fit", path, *place, "--text-field", "body", "--label-field", "stars")
    assert result.status == 0, result.err
    assert json.loads(result.out)["labels"] == ["1", "5"]


def test_the_classifier_of_a_model_can_be_explained_again(run, reviews, model, tmp_path):
    place = ["-o", tmp_path / "m", "-q", "--steps", "5", "--share", "0.3"]
    assert run("rationale", "fit", reviews, *place, "--classifier", model).status == 0
    first, second = (RationaleModel.read(folder) for folder in (model, tmp_path / "m"))
    assert first.encoder == second.encoder
    weights, again = (each.classifier.state_dict() for each in (first, second))
    assert all(torch.equal(weights[name], again[name]) for name in weights)
    assert not torch.equal(first.selector.outer.weight, second.selector.outer.weight)


def test_a_warning_is_shown_even_when_quiet(run, reviews, encoder, tmp_path):
    place = ["-o", tmp_path / "m", "--encoder", encoder, "--quiet", "--steps", "40"]
    result = run("rationale", "fit", reviews, *place, "--sparsity", "0", "--json")
    assert "warning: the gates have collapsed: open on most words" in result.error_line
    assert "collapsed" in json.loads(result.out)["warnings"][0]


# find


def test_find_gives_label_probability_and_correct_offsets(run, held_out, model, records):
    result = run("rationale", "find", held_out, "--model", model)
    assert (result.status, result.err) == (0, "")
    right = found = 0
    for line, row in zip(
        map(json.loads, result.out.splitlines()), records(40, seed=1), strict=True
    ):
        assert line["text"] == row["text"]
        assert 0.5 <= line["probability"] <= 1
        assert 0 <= line["from_rationale"] <= 1
        for span in line["spans"]:
            assert line["text"][span["start"] : span["end"]] == span["text"]
        right += line["label"] == row["label"]
        start, end = row["rationale"][0]
        found += any(s["start"] < end and start < s["end"] for s in line["spans"])
    assert right >= 36
    assert found >= 25


def test_find_reads_lines_from_a_pipe_and_writes_coloured_text(run, model, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    given = ["-", "--from", "lines", "--model", model, "--to", "terminal", "--threshold", "0.0"]
    result = run("rationale", "find", *given, stdin="the soup came awful.\n")
    assert result.status == 0
    assert "standard input" in result.out
    shown = re.sub(r"\x1b\[\d+m", "", result.out)
    assert re.search(r"^bad  [01]\.\d\d$", shown, re.MULTILINE)
    assert "[the soup came awful.|for]" in result.out
    assert "1 text: 1 bad" in result.out


def test_control_characters_do_not_reach_the_terminal(run, model):
    given = ["-", "--from", "lines", "--model", model, "--to", "terminal"]
    result = run("rationale", "find", *given, stdin="the \x1b[2Jsoup awful.\n")
    assert "\x1b[2J" not in result.out


def test_find_writes_a_page(run, held_out, model, tmp_path):
    page = tmp_path / "page.html"
    result = run("rationale", "find", held_out, "--model", model, "-o", page)
    assert (result.status, result.out) == (0, "")
    content = page.read_text(encoding="utf-8")
    assert content.count("<p dir=") == 40
    assert len(re.findall(r"<h2>(good|bad) [01]\.\d\d</h2>\n<dl>.*?</dl>\n<p dir=", content)) == 40
    assert content.endswith("</html>\n")
    assert "<mark" in content


def test_find_does_not_overwrite_what_it_reads(run, held_out, model):
    before = held_out.read_bytes()
    result = run("rationale", "find", held_out, "--model", model, "-o", held_out)
    assert result.status == 1
    assert "is one of the sources" in result.error_line
    assert held_out.read_bytes() == before


# eval


def test_eval_compares_rationales_with_random_words_and_gradients(run, held_out, model):
    result = run("rationale", "eval", held_out, "--model", model)
    assert (result.status, result.err) == (0, "")
    assert re.match(r"40 texts; \d+\.\d% of words selected.*; token precision [01]", result.out)
    for row in ("accuracy, whole text", "accuracy, rationale alone", "accuracy, without it"):
        assert row in result.out
    assert all(name in result.out for name in ("rationale", "random", "gradient"))


def test_eval_prints_the_same_figures_as_json(run, held_out, model):
    figures = json.loads(run("rationale", "eval", held_out, "--model", model, "--json").out)
    assert figures["rationale"]["texts"] == 40
    assert figures["rationale"]["accuracy"] >= 0.9
    assert (
        figures["rationale"]["accuracy_from_rationale"]
        > figures["random"]["accuracy_from_rationale"]
    )
    assert figures["token"]["gold"] == 40
    assert 0 < figures["token"]["f1"] <= 1


def test_without_gold_there_is_no_token_figure(run, model, tmp_path, records, write_jsonl):
    rows = [{"text": row["text"], "label": row["label"]} for row in records(20, seed=2)]
    path = write_jsonl(tmp_path / "plain.jsonl", rows)
    figures = json.loads(run("rationale", "eval", path, "--model", model, "--json").out)
    assert "token" not in figures


def test_a_gold_field_that_is_named_must_exist(run, held_out, model):
    result = run("rationale", "eval", held_out, "--model", model, "--gold-field", "golden")
    assert (result.status, result.out) == (1, "")
    assert result.error_line == "no record has a gold rationale in the field 'golden'"


def test_an_unknown_label_is_reported_and_the_rest_is_evaluated(
    run, model, tmp_path, records, write_jsonl
):
    rows = records(20, seed=2)
    rows[4]["label"] = "meh"
    path = write_jsonl(tmp_path / "odd.jsonl", rows)
    result = run("rationale", "eval", path, "--model", model, "--json")
    assert result.status == 1
    assert result.error_line == f"{path} line 5: unknown label 'meh'; the model knows bad, good"
    assert json.loads(result.out)["rationale"]["texts"] == 19
