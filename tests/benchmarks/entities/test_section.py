"""The tables of the README show the results in benchmarks/results."""

import shutil

from benchmarks.data import ROOT
from benchmarks.entities import section


def test_the_readme_has_the_figures_of_the_results(tmp_path, monkeypatch):
    shutil.copy(ROOT / "README.md", tmp_path)
    monkeypatch.setattr(section, "ROOT", tmp_path)
    section.write_readme_tables()
    written = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert written == (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_summary_has_the_built_in_model_and_spacy_to_two_digits():
    def figures(cased, lower):
        f1 = {"cased": {"span_f1": cased}, "lower": {"span_f1": lower}}
        return dict.fromkeys(("wikigold", "ewt", "wnut17", "crossner", "bc5cdr"), f1)

    measured = {
        "finders": {
            "english": figures(0.821, 0.724),
            "teacher-0": figures(0.84, 0.74),
        },
        "peers": {"spaCy small": figures(0.5, 0.25), "noun chunks": figures(0.1, 0.1)},
    }
    rows = section.summary_table(measured)
    assert rows[2:] == [
        "| **Thresher**, no labels |" + " 0.82 / 0.72 |" * 5,
        "| spaCy small, supervised |" + " 0.50 / 0.25 |" * 5,
    ]
