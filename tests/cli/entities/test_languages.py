"""Texts that a model cannot read, and the options --adapt and --model auto."""


def test_a_text_that_the_model_cannot_read_is_reported_with_the_model_that_can(run, tmp_path):
    path = tmp_path / "ja.txt"
    path.write_text("東京は日本の首都です。", encoding="utf-8")
    outcome = run("find", str(path), "--to", "jsonl")
    assert outcome.status == 1
    assert "ja.txt:1: the text is in the script" in outcome.err
    assert "use --model multilingual" in outcome.err


def test_adapting_needs_one_model(run, tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("Marie Curie moved to Paris.", encoding="utf-8")
    outcome = run("find", str(path), "--model", "auto", "--adapt")
    assert outcome.status == 1
    assert "--adapt needs one model" in outcome.err
