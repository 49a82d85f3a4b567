"""Tables of entities and graphs of co-mentions, compared with counting by hand and networkx."""

import io
from collections import Counter
from itertools import combinations

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.typed_finder import TypedFinder

from thresher import InputError
from thresher.entities.finding.scored_text import Mention
from thresher.entities.tables import CoMentions, EntityTable, entity_table, plot_co_mentions
from thresher.entities.tables.co_mentions import CoMentionCounts
from thresher.text import Span
from thresher.text.document import Document

TEXTS = [
    "Jensen Huang met Magda in Oslo. In the end Huang left OSLO with Magda.",
    "Huang was in Paris. Magda's boat was not.",
]


def rows_by_name(table, top=None):
    return {row.entity: row for row in table.rows(top)}


def test_a_row_has_counts_first_mention_spellings_example_and_score():
    rows = rows_by_name(entity_table(TypedFinder(), TEXTS))
    assert list(rows) == ["Magda", "Jensen Huang", "Oslo", "Huang", "Paris"]
    huang = rows["Jensen Huang"]
    assert (huang.mentions, huang.documents, huang.kind) == (2, 1, "person")
    assert huang.spellings == ("Jensen Huang", "Huang")
    assert huang.first_mention == "text:1"
    assert huang.example == "Jensen Huang met Magda in Oslo."
    spans = [span for text in TEXTS for span in TypedFinder().find(text)]
    magda = [span.score for span in spans if span.text.startswith("Magda")]
    assert rows["Magda"].score == pytest.approx(sum(magda) / len(magda))
    assert (rows["Magda"].mentions, rows["Magda"].documents) == (3, 2)
    assert rows["Oslo"].spellings == ("Oslo", "OSLO")
    assert rows["Huang"].first_mention == "text:2"


def test_without_grouping_every_spelling_is_an_entity():
    table = entity_table(TypedFinder(), TEXTS, group=False)
    spans = [span for text in TEXTS for span in TypedFinder().find(text)]
    counts = Counter(span.text for span in spans)
    assert {row.entity: row.mentions for row in table.rows()} == counts


def test_top_and_only_limit_the_rows():
    table = entity_table(TypedFinder(), TEXTS, only=["place"])
    assert [row.entity for row in table.rows(1)] == ["Oslo"]
    assert len(table) == 2
    with pytest.raises(InputError, match="`top` must be at least 1"):
        table.rows(0)
    with pytest.raises(InputError, match="unknown kind 'plac' in `only`"):
        entity_table(TypedFinder(), TEXTS, only=["plac"])


def found(text, *names, sentence=(0, None)):
    spans = [Span(text.index(name), text.index(name) + len(name), name, 0.5) for name in names]
    return [Mention(span, sentence[0], sentence[1] or len(text)) for span in spans]


def test_blocks_of_a_file_are_one_document_and_records_are_several():
    table = EntityTable()
    for offset in (0, 100, 200):
        table.add(Document("Oslo", "a.txt", offset + 1, offset), found("Oslo", "Oslo"))
    for number in (1, 2):
        table.add(Document("Oslo", "b.jsonl", number), found("Oslo", "Oslo"))
    [row] = table.rows()
    assert (row.mentions, row.documents) == (5, 3)


def test_the_line_of_the_first_mention_is_counted_in_plain_text():
    text = "one\ntwo\nOslo"
    table = EntityTable()
    table.add(Document(text, "a.txt", 5), found(text, "Oslo"))
    assert table.rows()[0].first_mention == "a.txt:7"
    table = EntityTable()
    table.add(Document(text, "a.jsonl", 5), found(text, "Oslo"))
    assert table.rows()[0].first_mention == "a.jsonl:5"


def test_a_long_sentence_is_cut_around_the_mention():
    text = "word " * 100 + "Oslo" + " word" * 100
    table = EntityTable()
    table.add(Document(text, "a.txt"), found(text, "Oslo"))
    example = table.rows()[0].example
    assert "Oslo" in example
    assert (example[0], example[-1]) == ("…", "…")
    assert len(example) <= 242


@given(st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=8), max_size=30))
def test_frequent_entities_are_kept_if_memory_is_limited(documents):
    names = [f"N{number:02}x" for number in range(31)]
    tables = EntityTable(max_entities=16), EntityTable()
    for number, numbers in enumerate(documents, 1):
        text = " ".join(names[each] for each in numbers)
        mentions = [
            Mention(Span(5 * i, 5 * i + 4, names[each], 1.0), 0, len(text))
            for i, each in enumerate(numbers)
        ]
        for table in tables:
            table.add(Document(text, "a.jsonl", number), mentions)
    limited, exact = ({row.entity: row.mentions for row in table.rows()} for table in tables)
    assert len(limited) <= max(16, *map(len, documents), 0) if documents else not limited
    assert all(count <= exact[name] for name, count in limited.items())
    if not tables[0].forgotten:
        assert limited == exact


@given(st.lists(st.sets(st.sampled_from(["Oslo", "Larvik", "Hull", "Ärø <&>", "\x00\ud800"]))))
def test_networkx_reads_the_same_graph(sentences):
    table = EntityTable(group=False)
    expected = Counter()
    text = "Oslo Larvik Hull Ärø <&> \x00\ud800"
    for number, names in enumerate(sentences, 1):
        table.add(Document(text, "a.jsonl", number), found(text, *sorted(names)))
        readable = {name.replace("\x00\ud800", "\ufffd\ufffd") for name in names}
        expected.update(map(frozenset, combinations(sorted(readable), 2)))
    graph = networkx.read_graphml(io.BytesIO(table.co_mentions().to_graphml()))
    labels = networkx.get_node_attributes(graph, "label")
    read = {
        frozenset((labels[a], labels[b])): data["weight"] for a, b, data in graph.edges(data=True)
    }
    assert read == expected
    mentions = {labels[node]: data["mentions"] for node, data in graph.nodes(data=True)}
    assert mentions == Counter(
        name.replace("\x00\ud800", "\ufffd\ufffd") for names in sentences for name in names
    )


def test_entities_of_a_document_are_mentioned_together_if_so_requested():
    def pairs(within):
        graph = entity_table(TypedFinder(), TEXTS, within=within).co_mentions()
        return {
            tuple(graph.entities[i].entity for i in pair): n for pair, n in graph.counts.items()
        }

    assert pairs("sentence")["Magda", "Jensen Huang"] == 2
    assert ("Magda", "Paris") not in pairs("sentence")
    assert pairs("document")["Magda", "Jensen Huang"] == 1
    assert pairs("document")["Magda", "Paris"] == 1
    with pytest.raises(InputError, match="unknown `within` 'page'; choose from sentence, document"):
        EntityTable(within="page")


def test_rare_pairs_are_forgotten_first():
    counts = CoMentionCounts(max_pairs=4)
    for names in ["ab"] * 3 + ["cd"] * 2 + ["xyz"]:
        counts.add(names)
    kept = counts.between({name: number for number, name in enumerate("abcdxyz")})
    assert kept[0, 1] == 3
    assert kept[2, 3] == 2
    assert len(kept) <= 4


@pytest.mark.parametrize(
    ("name", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_a_plot_shows_connected_entities_and_is_the_same_every_time(name, start):
    graph = entity_table(TypedFinder(), TEXTS).co_mentions()
    picture = plot_co_mentions(graph, format=name)
    assert picture.startswith(start)
    assert picture == plot_co_mentions(graph, format=name)
    if name == "svg":
        assert all(label in picture for label in (b"Jensen Huang", b"Magda", b"person", b"place"))
        assert b"Paris" in picture
        assert b"mentioned together" in plot_co_mentions(CoMentions((), {}))
