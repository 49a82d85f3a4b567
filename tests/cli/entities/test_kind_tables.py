"""Tables of kinds fit the terminal without shortened headings."""

import pytest
from rich.console import Console, Group
from rich.table import Table

from thresher.cli.entities.kind_tables import kind_tables
from thresher.entities.evaluation import evaluate_kinds
from thresher.entities.finding.decoding import Candidate
from thresher.entities.kinds.examples import KindExamples
from thresher.text.annotations import TaggedSentence

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
