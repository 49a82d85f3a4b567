"""thresher eval, compared with seqeval and scikit-learn; tables of kinds fit the terminal."""

import json

import pytest
from rich.console import Console, Group
from rich.table import Table
from seqeval.metrics import f1_score, precision_score, recall_score
from sklearn.metrics import average_precision_score
from tests.typed_finder import TypedFinder

from thresher.bulk.finder_choice import FinderChoice
from thresher.cli.entities.evaluate import kind_tables
from thresher.entities.evaluation import evaluate_kinds
from thresher.entities.finding.decoding import Candidate
from thresher.entities.kinds.examples import KindExamples
from thresher.text.annotations import TaggedSentence

GOLD = """\
Magda\tB-PER
Nowak\tI-PER
left\tO
Oslo\tB-LOC
.\tO

in\tO
larvik\tB-LOC
the\tO
Boats\tO
slept\tO
.\tO

Elias\tB-PER
went\tO
home\tO
.\tO
"""


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.conll"
    path.write_text(GOLD, encoding="utf-8")
    return path


def tags_of(conll: str) -> list[list[str]]:
    """Tags without their kinds: B-PER and B-ENT are both B-X."""
    return [
        [line.split("\t")[1][:1].replace("B", "B-X").replace("I", "I-X") for line in lines]
        for lines in (block.splitlines() for block in conll.strip().split("\n\n"))
    ]


@pytest.mark.parametrize("threshold", ["0.2", "0.6"])
def test_figures_equal_those_of_seqeval_and_scikit_learn_on_the_output_of_find(
    run, gold, model, threshold
):
    output = json.loads(run("eval", gold, "--json", "--model", model, "--threshold", threshold).out)
    found = run("find", gold, "--to", "conll", "--model", model, "--threshold", threshold).out
    figures = output["as_given"]
    for name, of in {"precision": precision_score, "recall": recall_score, "f1": f1_score}.items():
        expected = of(tags_of(GOLD), tags_of(found), zero_division=0)
        assert figures["span"][name] == pytest.approx(expected), name
    is_gold = [tag != "O" for tags in tags_of(GOLD) for tag in tags]
    scores = [float(line.split("\t")[2]) for line in found.splitlines() if line]
    expected = average_precision_score(is_gold, scores)
    assert figures["word"]["average_precision"] == pytest.approx(expected, abs=1e-3)
    selected = [score >= 0.5 for score in scores]
    assert figures["word"]["predicted"] == sum(selected)
    assert (output["sentences"], output["words"], output["spans"]) == (3, 15, 4)
    assert sum(each["count"] for each in figures["calibration"]) >= figures["span"]["predicted"]


def test_lower_cased_figures_are_those_of_a_lower_cased_file(run, gold, model, tmp_path):
    lower = tmp_path / "lower.conll"
    rows = [line.partition("\t") for line in GOLD.splitlines()]
    lower.write_text("\n".join(w.lower() + tab + tag for w, tab, tag in rows), encoding="utf-8")
    as_given = json.loads(run("eval", gold, "--json", "--model", model).out)
    lowered = json.loads(run("eval", lower, "--json", "--model", model).out)
    assert as_given["lower-cased"] == lowered["as_given"] == lowered["lower-cased"]
    assert as_given["as_given"] != as_given["lower-cased"]


def test_the_table_shows_the_same_figures(run, gold, model):
    shown = run("eval", gold, "--model", model)
    figures = json.loads(run("eval", gold, "--model", model, "--json").out)
    rows = {line[:22].strip(): line[22:].split() for line in shown.out.splitlines()}
    for row, place in {
        "word AP": ("word", "average_precision"),
        "word F1": ("word", "f1"),
        "exact span precision": ("span", "precision"),
        "exact span recall": ("span", "recall"),
    }.items():
        for column, case in enumerate(["as_given", "lower-cased"]):
            assert rows[row][column] == f"{figures[case][place[0]][place[1]]:.3f}"
    assert rows["calibration error"][0] == f"{figures['as_given']['calibration_error']:.3f}"
    assert shown.out.startswith("3 sentences, 15 words, 4 spans; threshold ")
    assert run("eval", gold, "--model", model, "--quiet").out in shown.out


def test_one_sentence_is_counted_as_one(run, model, tmp_path):
    gold = tmp_path / "gold.conll"
    gold.write_text("Magda B-PER\nleft O\n", encoding="utf-8")
    result = run("eval", gold, "--model", model).out
    assert result.startswith("1 sentence, 2 words, 1 span; threshold ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("Magda\nleft\n", "no column has tags"),
        ("", "has no sentences"),
        ("Magda\tB-PER\nleft\n", "line 2"),
        ("rain\tO\nfell\tO\n", "gold.conll: cannot evaluate"),
    ],
)
def test_gold_that_cannot_be_read_gives_no_figures(run, tmp_path, content, message):
    path = tmp_path / "gold.conll"
    path.write_text(content, encoding="utf-8")
    result = run("eval", path)
    assert (result.status, result.out) == (1, "")
    assert message in result.error_line


@pytest.mark.parametrize("tool", ["prodigy", "doccano", "label-studio"])
def test_exports_of_labelling_tools_are_read_as_gold(run, model, tmp_path, tool):
    """A model's own predictions as gold give F1 1; a changed text halves the recall."""
    notes, labelled = tmp_path / "notes.txt", tmp_path / "labelled"
    notes.write_text("😀 Magda left Oslo.", encoding="utf-8")
    run("find", notes, "--to", tool, "--model", model, "-o", labelled)
    command = ["eval", labelled, "--from", tool, "--json", "--model", model]
    figures = json.loads(run(*command).out)
    assert (figures["words"], figures["spans"]) == (5, 2)
    assert figures["as_given"]["span"]["f1"] == 1

    written = labelled.read_text(encoding="utf-8")
    labelled.write_text(written.replace("Oslo", "home"), encoding="utf-8")
    half = json.loads(run(*command).out)["as_given"]["span"]
    assert (half["precision"], half["recall"]) == (1, 0.5)


def test_a_file_without_labelled_texts_is_an_error(run, tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text('[{"data": {"text": "Magda left."}}]', encoding="utf-8")
    result = run("eval", path, "--from", "label-studio")
    assert result.status == 1
    assert result.error_line == f"no text in {path} is labelled"


def test_texts_without_any_entity_are_an_error(run, tmp_path):
    paths = [tmp_path / name for name in ("one.jsonl", "two.jsonl")]
    for path in paths:
        path.write_text('{"text": "Rain fell.", "answer": "accept", "spans": []}\n')
    result = run("eval", *paths, "--from", "prodigy", "--json")
    assert (result.status, result.out) == (1, "")
    message = f"no entity is labelled in {paths[0]} and 1 more: cannot evaluate"
    assert result.error_line == message


def test_figures_and_confusions_of_kinds(run, gold, monkeypatch):
    monkeypatch.setattr(FinderChoice, "load", lambda self: TypedFinder())
    mapped = ("--map", "PER=person", "--map", "LOC=place")
    typed = json.loads(run("eval", gold, "--json", *mapped).out)["as_given"]["typed"]
    assert typed["kinds"]["person"]["gold"] == typed["kinds"]["place"]["gold"] == 2
    assert typed["kinds"]["place"]["recall"] == 0.5
    shown = run("eval", gold, *mapped)
    assert shown.err == ""
    rows = [line.split() for line in shown.out.splitlines()]
    assert ["person", "1.000", "0.500", "0.667", *["0.000"] * 3, "2"] in rows
    assert ["place", "·", "1", "·", "1"] in rows
    note = run("eval", gold, "--map", "PER=person").err
    assert "the gold data has the kinds LOC, which are none of the model's" in note
    assert "--map LOC=person" in note


@pytest.mark.parametrize(
    ("given", "status", "message"),
    [
        ("PER=persn", 1, "nor a label of the gold data (PER, LOC); did you mean person?"),
        ("PRE=person", 1, "--map: 'PRE' is neither a label of the gold data nor a kind"),
        ("PER", 2, "'PER' is not of the form PER=person"),
    ],
)
def test_a_wrong_name_of_a_kind_is_one_line(run, gold, monkeypatch, given, status, message):
    monkeypatch.setattr(FinderChoice, "load", lambda self: TypedFinder())
    shown = run("eval", gold, "--map", given)
    assert shown.status == status
    assert message in shown.error_line


def test_a_kind_with_two_new_names_is_refused(run, gold):
    shown = run("eval", gold, "--map", "PER=person", "--map", "PER=place")
    assert shown.status == 1
    assert shown.error_line == "--map gives PER two names, person and place; keep one of them"


BUILT_IN = KindExamples.english().kinds
MANY = tuple(f"discovered-kind-{number}" for number in range(12))


def evaluation(kinds):
    """Return an evaluation with 1,234 correct spans of each kind, and one of every confusion."""
    pairs = [(kind, kind) for kind in kinds] * 1234
    pairs += [(gold, found) for gold in kinds for found in kinds if gold != found]
    gold = [TaggedSentence(("a", "b"), ((0, 1),), (label,)) for label, _ in pairs]
    found = [[Candidate(0, 1, 1.0, kind, 1.0)] for _, kind in pairs]
    gold += [TaggedSentence(("a", "b"), ((0, 1),), (kind,)) for kind in kinds] * 2
    found += [[Candidate(0, 1, 1.0), Candidate(1, 2, 1.0, kind, 1.0)] for kind in kinds]
    found += [[] for _ in kinds]
    return evaluate_kinds(gold, found)


def shown(kinds, width):
    evaluations = {"as given": evaluation(kinds), "lower-cased": evaluation(kinds)}
    renderables = kind_tables(evaluations, width=width)
    console = Console(width=width)
    with console.capture() as captured:
        console.print(Group(*renderables))
    return [each for each in renderables if isinstance(each, Table)], captured.get()


@pytest.mark.parametrize("kinds", [BUILT_IN, MANY])
def test_no_heading_is_shortened_at_80_characters(kinds):
    _, out = shown(kinds, 80)
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 80
    for heading in (*kinds, "lower-cased", "(no entity)"):
        assert heading in out
    assert out.count("1,234") == 2 * len(kinds)


def test_the_matrices_of_the_built_in_kinds_are_not_divided_at_100_characters():
    tables, _ = shown(BUILT_IN, 100)
    assert len(tables) == 3
    assert len(shown(BUILT_IN, 40)[0]) > 3


def test_a_divided_matrix_has_all_columns_in_order():
    def headings(width):
        return [
            str(column.header) for table in shown(MANY, width)[0][1:] for column in table.columns
        ]

    assert len(shown(MANY, 300)[0]) == 3
    assert [each for each in headings(50) if each] == [each for each in headings(300) if each]


def test_the_title_of_a_narrow_table_is_one_line():
    _, out = shown(("a", "b"), 80)
    assert "Confusions, as given: gold kinds in rows, predicted kinds in columns\n" in out
