"""A command whose output another run is writing stops with one line and changes nothing."""

import pytest

from thresher.output_lock import lock_output

QUICK_LM = "--steps 2 --batch 2 --width 16 --layers 1 --heads 1 --context 16".split()


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "CORPUS", "--epochs", "1", "--contrast", "0"],
        ["lm", "train", "CORPUS", *QUICK_LM],
        ["distill", "MODEL", "CORPUS"],
        ["rationale", "fit", "REVIEWS", "--steps", "2"],
        ["find", "CORPUS", "--model", "MODEL"],
        ["find", "CORPUS", "--model", "MODEL", "--engine", "ray"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_the_second_run_stops(run, model, short_corpus, tmp_path, command):
    reviews = tmp_path / "reviews.csv"
    reviews.write_text("text,label\n" + "good soup,1\nbad soup,0\n" * 20)
    names = {"CORPUS": short_corpus, "MODEL": model, "REVIEWS": reviews}
    work = tmp_path / "out.partial"
    work.mkdir()
    (work / "checkpoint.safetensors").write_bytes(b"of the other run")
    arguments = [names.get(each, each) for each in command]
    with lock_output(tmp_path / "out"):
        result = run(*arguments, "-o", tmp_path / "out", "--quiet")
    assert result.status == 1
    assert result.err.splitlines()[-1].startswith("thresher: another run is writing")
    assert not (tmp_path / "out").exists()
    assert (work / "checkpoint.safetensors").read_bytes() == b"of the other run"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out.partial", "reviews.csv"]
