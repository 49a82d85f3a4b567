"""Invalid options and invalid input of thresher rationale."""

import json

import pytest


@pytest.mark.parametrize("command", ["fit", "find", "eval"])
def test_an_unreadable_line_is_reported_with_its_number_and_skipped(
    run, command, model, encoder, tmp_path, records
):
    path = tmp_path / "some.jsonl"
    good = "".join(json.dumps(row) + "\n" for row in records(30))
    path.write_text(good + "{broken\n" + json.dumps({"text": "", "label": "good"}) + "\n")
    given = {
        "fit": ["-o", tmp_path / "m", "--encoder", encoder, "--steps", "3", "--quiet"],
        "find": ["--model", model],
        "eval": ["--model", model, "--json"],
    }[command]
    result = run("rationale", command, path, *given)
    assert result.status == 1
    assert f"thresher: {path} line 31: not JSON in UTF-8\n" in result.err
    assert f"thresher: {path} line 32: the text is empty\n" in result.err
    assert "2 problems with the input, shown above; the rest was processed" in result.err
    assert (tmp_path / "m").exists() if command == "fit" else result.out


BAD_FIT = {  # rows, or how many good ones; options; the message
    "missing label column": ([{"text": "Fine.", "stars": 5}] * 30, [], "has no field 'label'"),
    "single class": ([{"text": "Fine.", "label": "a"}] * 30, [], "all texts have the label 'a'"),
    "too few": (5, [], "5 texts are too few to learn from; give at least 20"),
    "too few samples": (
        30,
        ["--estimator", "reinforce", "--baseline", "others"],
        "--samples must be at least 2",
    ),
}


@pytest.mark.parametrize("kind", BAD_FIT)
def test_unusable_training_data_is_one_line_and_leaves_no_files(
    run, encoder, tmp_path, kind, records, write_jsonl
):
    rows, given, message = BAD_FIT[kind]
    path = write_jsonl(tmp_path / "some.jsonl", records(rows) if isinstance(rows, int) else rows)
    place = ["-o", tmp_path / "m", "--encoder", encoder]
    result = run("rationale", "fit", path, *place, *given)
    assert (result.status, result.out) == (1, "")
    assert message in result.error_line
    assert sorted(p.name for p in tmp_path.iterdir()) == ["some.jsonl"]


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--mode", "frozn", "'frozn' is not one of 'frozen', 'joint'; did you mean frozen?"),
        ("--estimator", "path", "is not one of 'pathwise', 'reinforce'"),
        ("--baseline", "mean", "is not one of 'none', 'average', 'others'"),
        ("--form", "hard", "is not one of 'continuous', 'stretched', 'thresholded'"),
        ("--gates-at", "top", "is not one of 'input', 'pool'"),
        ("--from", "xml", "is not one of 'jsonl', 'csv', 'tsv', 'lines'"),
        ("--share", "2", "Invalid value for '--share': "),
        ("--sparsity", "-1", "Invalid value for '--sparsity': "),
        ("--steps", "0", "Invalid value for '--steps': "),
        ("--samples", "x", "Invalid value for '--samples': "),
    ],
)
def test_an_unknown_value_is_answered_with_the_choices(
    run, reviews, tmp_path, option, value, message
):
    result = run("rationale", "fit", reviews, "-o", tmp_path / "m", option, value)
    assert result.status == 2
    assert message in result.error_line
    assert "(see thresher rationale fit --help)" in result.error_line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--share", "0"], "--share must be between 3e-07 and 1, which stretched gates can reach"),
        (["--share", "1", "--form", "thresholded"], "between 0.001 and 0.999, which thresholded"),
        (["--from-scratch"], "--from-scratch can be used only with --mode joint"),
        (["--from-scratch", "--mode", "joint", "--classifier", "m"], "and without --classifier"),
        (
            ["--sparsity", "1", "--selection", "2"],
            "--selection needs --share, --likely or --unlikely",
        ),
        (["--baseline", "others"], "--baseline needs --estimator reinforce"),
    ],
)
def test_contradictory_options_are_refused(run, reviews, tmp_path, options, message):
    result = run("rationale", "fit", reviews, "-o", tmp_path / "m", *options)
    assert (result.status, result.out) == (1, "")
    assert message in result.error_line


@pytest.mark.parametrize("command", ["find", "eval"])
def test_a_damaged_or_missing_model_is_reported_in_one_line(
    run, command, held_out, model, tmp_path
):
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for file in model.iterdir():
        (damaged / file.name).write_bytes(file.read_bytes())
    (damaged / "weights.safetensors").write_bytes(b"\0" * 50)
    for folder, message in (
        (damaged, "was changed after"),
        (tmp_path / "none", "there is no model"),
    ):
        result = run("rationale", command, held_out, "--model", folder)
        assert (result.status, result.out) == (1, "")
        assert message in result.error_line


def test_an_existing_model_is_replaced_only_with_force(run, reviews, encoder, tmp_path):
    place = ["-o", tmp_path / "m", "--encoder", encoder, "-q", "--steps", "3"]
    assert run("rationale", "fit", reviews, *place).status == 0
    again = run("rationale", "fit", reviews, *place)
    assert (again.status, "add --force to replace it" in again.error_line) == (1, True)
    assert run("rationale", "fit", reviews, *place, "--force").status == 0


def test_a_missing_file_and_a_missing_word_list_are_reported(run, reviews, tmp_path):
    result = run("rationale", "fit", tmp_path / "none.csv", "-o", tmp_path / "m")
    assert result.error_line == f"no such file: {tmp_path / 'none.csv'}"
    result = run(
        "rationale", "fit", reviews, "-o", tmp_path / "m", "--likely", tmp_path / "none.txt"
    )
    assert result.error_line == f"no such file: {tmp_path / 'none.txt'}"
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_unknown_format_needs_the_flag_from(run, tmp_path):
    (tmp_path / "reviews.dat").write_text("text,label\n", encoding="utf-8")
    result = run("rationale", "fit", tmp_path / "reviews.dat", "-o", tmp_path / "m")
    assert result.status == 1
    assert result.error_line.endswith("; choose one with --from")


def test_an_output_name_of_no_known_format_is_refused(run, held_out, model, tmp_path):
    path = tmp_path / "found.csv"
    result = run("rationale", "find", held_out, "--model", model, "-o", path)
    assert result.status == 1
    assert result.error_line == (
        f"cannot tell the format of {path} by its name (.jsonl, .ndjson, .html, .htm); "
        "choose one with --to"
    )
    assert not path.exists()
