"""thresher find: all input and output formats."""

import gc
import json
import re
import sys
from itertools import count

import pytest

from thresher import EntityFinder
from thresher.bulk.workers import LocalFinder
from thresher.cli.entities.find import OutputFormat
from thresher.cli.entities.writers import EntityWriter
from thresher.text import read_annotated, read_conll
from thresher.text.corpus import Document

TEXT = "In Larvik the boats are counted by Magda. Nobody knew why Elias had left.\n"


def records(out: str) -> list[dict]:
    return [json.loads(line) for line in out.splitlines()]


def spans_of(record: dict) -> list[tuple[int, int, str]]:
    return [(span["start"], span["end"], span["text"]) for span in record["spans"]]


@pytest.fixture
def notes(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def split_words(tmp_path):
    """A CoNLL file with words that `segment` would split differently."""
    path = tmp_path / "words.conll"
    path.write_text("Magda\tO\nwent to\tO\nOslo\tO\n\nshe\tO\nLarvik,\tO\n\n", encoding="utf-8")
    return path


def test_offsets_of_found_names_are_correct(run, notes, model):
    result = run("find", notes, "--model", model)
    assert (result.status, result.err) == (0, "")
    [record] = records(result.out)
    assert record["source"] == str(notes)
    assert record["text"] == TEXT
    assert [text for _, _, text in spans_of(record)] == ["Larvik", "Magda", "Elias"]
    assert all(TEXT[start:end] == text for start, end, text in spans_of(record))


def test_the_output_equals_what_the_finder_returns(run, notes, model, finder):
    [record] = records(run("find", notes, "--model", model).out)
    expected = [(span.start, span.end, span.text) for span in finder.find(TEXT)]
    assert spans_of(record) == expected


@pytest.mark.parametrize("form", ["text", "jsonl", "csv", "tsv", "parquet", "conll"])
def test_every_format_is_read(run, tmp_path, model, form):
    path = tmp_path / f"notes.{form}"
    if form == "text":
        path.write_text("Magda left Oslo.", encoding="utf-8")
    elif form == "jsonl":
        path.write_text('{"body": "Magda left Oslo."}\n', encoding="utf-8")
    elif form in ("csv", "tsv"):
        path.write_text(
            "id,body\n1,Magda left Oslo.\n".replace(",", {"csv": ",", "tsv": "\t"}[form])
        )
    elif form == "parquet":
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({"body": ["Magda left Oslo."]}), path)
    else:
        path.write_text("Magda\nleft\nOslo\n.\n", encoding="utf-8")
    result = run("find", path, "--from", form, "--field", "body", "--model", model)
    [record] = records(result.out)
    assert [text for *_, text in spans_of(record)] == ["Magda", "Oslo"]


def test_a_table_is_read_row_by_row_and_an_unclear_one_needs_the_flag_from(run, tmp_path, model):
    path = tmp_path / "notes.tsv"
    path.write_text("id\ttext\n1\tMagda left Oslo.\n2\tElias left.\n", encoding="utf-8")
    result = run("find", path, "--model", model)
    assert (result.status, result.err) == (0, "")
    assert [record["text"] for record in records(result.out)] == ["Magda left Oslo.", "Elias left."]

    result = run("find", path, "--model", model, "--field", "body")
    assert (result.status, result.out) == (1, "")
    assert "is a table or CoNLL: its first row has no column 'body'" in result.error_line
    assert result.error_line.endswith(
        "choose --from tsv (with --field for the text column) or --from conll"
    )


def test_skipped_files_of_a_folder_are_a_note_that_keeps_the_status(run, tmp_path, model):
    (tmp_path / "a.txt").write_text("Magda left.", encoding="utf-8")
    for name in ("b.xls", "c.pptx", "d.pptx"):
        (tmp_path / name).write_bytes(b"PK")
    result = run("find", tmp_path, "--model", model)
    assert (result.status, len(records(result.out))) == (0, 1)
    assert result.error_line == (
        f"note: skipped 3 files of no known format in {tmp_path}: 2 .pptx, 1 .xls"
    )


@pytest.mark.parametrize("name", ["found.xlsx", "found.json", "found.jsonl.gz"])
def test_an_output_name_of_no_known_format_needs_the_flag_to(run, notes, model, tmp_path, name):
    path = tmp_path / name
    result = run("find", notes, "--model", model, "-o", path)
    assert (result.status, result.out) == (1, "")
    assert result.error_line.startswith(f"cannot tell the format of {path} by its name (.jsonl, ")
    assert result.error_line.endswith("; choose one with --to")
    assert not path.exists()
    assert run("find", notes, "--model", model, "-o", path, "--to", "jsonl").status == 0
    assert len(records(path.read_text(encoding="utf-8"))) == 1


def test_folders_patterns_and_standard_input_are_read_in_order(run, tmp_path, model):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.txt").write_text("Magda left.", encoding="utf-8")
    (tmp_path / "b1.txt").write_text("Elias left.", encoding="utf-8")
    (tmp_path / "b2.txt").write_text("Rosa left.", encoding="utf-8")
    result = run(
        "find", tmp_path / "deep", tmp_path / "b*.txt", "-", "--model", model, stdin="Oslo."
    )
    assert [record["text"] for record in records(result.out)] == [
        "Magda left.",
        "Elias left.",
        "Rosa left.",
        "Oslo.",
    ]


def test_conll_output_has_the_sentences_and_words_of_the_input(run, split_words, model, finder):
    out = run("find", split_words, "--to", "conll", "--model", model).out
    sentences = [["Magda", "went to", "Oslo"], ["she", "Larvik,"]]
    rows = [[line.split("\t") for line in block.split("\n")] for block in out.split("\n\n")[:-1]]
    assert [[word for word, _, _ in block] for block in rows] == sentences

    found = finder.find_words(sentences)
    for block, entities, scores in zip(
        rows, found, [each.scores for each in finder.score_sentences(sentences)], strict=True
    ):
        expected = ["O"] * len(block)
        for entity in entities:
            expected[entity.start : entity.end] = ["I-ENT"] * (entity.end - entity.start)
            expected[entity.start] = "B-ENT"
        assert [tag for _, tag, _ in block] == expected
        assert [float(score) for *_, score in block] == pytest.approx(scores.tolist(), abs=1e-4)
    assert out.startswith("Magda\tB-ENT\t")
    assert out.endswith("\n\n")


def test_words_of_a_split_file_are_not_split_again(run, split_words, model):
    first, second = records(run("find", split_words, "--model", model).out)
    assert first["text"] == "Magda went to Oslo"
    assert spans_of(first) == [(0, 5, "Magda"), (14, 18, "Oslo")]
    assert (first["line"], second["line"]) == (1, 5)


def test_conll_of_raw_text_has_the_spans_of_jsonl(run, notes, model):
    rows = [
        line.split("\t")
        for line in run("find", notes, "--to", "conll", "--model", model).out.splitlines()
        if line
    ]
    [record] = records(run("find", notes, "--model", model).out)
    assert [word for word, tag, _ in rows if tag == "B-ENT"] == [s[2] for s in spans_of(record)]


def test_html_names_each_source_once(run, tmp_path, model):
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text('{"text": "Oslo."}\n' * 2, encoding="utf-8")
    page = run("find", tmp_path, "--to", "html", "--model", model).out
    assert page.count("<p dir=") == 4
    assert re.findall("<h2>(.*)</h2>", page) == [str(tmp_path / f"{name}.jsonl") for name in "ab"]


def test_html_marks_the_same_names(run, notes, model):
    page = run("find", notes, "--to", "html", "--model", model).out
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
    assert page.count("<mark") == 3
    assert ">Larvik</mark>" in page


@pytest.mark.parametrize("tool", ["prodigy", "doccano", "label-studio"])
def test_a_labelling_tool_gets_the_same_names(run, notes, model, tmp_path, tool):
    """The text has an emoji, which doccano counts as two characters."""
    notes.write_text("🎉 " + TEXT, encoding="utf-8")
    [record] = records(run("find", notes, "--model", model).out)
    path = tmp_path / "tasks"
    result = run("find", notes, "--to", tool, "--model", model, "-o", path)
    assert (result.status, result.err) == (0, "")
    [read] = read_annotated(path, format=tool)
    assert read.text == "🎉 " + TEXT
    assert [(span.start, span.end, span.text) for span in read.spans] == spans_of(record)
    assert [span.score for span in read.spans] == [span["score"] for span in record["spans"]]
    assert str(notes) in path.read_text(encoding="utf-8")


def test_prodigy_gets_the_words_of_a_split_file(run, split_words, model):
    first, second = records(run("find", split_words, "--to", "prodigy", "--model", model).out)
    assert [token["text"] for token in first["tokens"]] == ["Magda", "went to", "Oslo"]
    assert [token["text"] for token in second["tokens"]] == ["she", "Larvik,"]


def test_label_studio_tasks_can_be_read_as_input(run, notes, model, tmp_path):
    tasks = tmp_path / "tasks.json"
    run("find", notes, "--to", "label-studio", "--model", model, "-o", tasks)
    [again] = records(run("find", tasks, "--from", "label-studio", "--model", model).out)
    [record] = records(run("find", notes, "--model", model).out)
    assert again["spans"] == record["spans"]


def test_iob2_is_conll_without_the_scores(run, notes, model, tmp_path):
    conll = run("find", notes, "--to", "conll", "--model", model).out
    path = tmp_path / "notes.iob2"
    run("find", notes, "--model", model, "-o", path)
    assert path.read_text(encoding="utf-8").splitlines() == [
        line.rpartition("\t")[0] for line in conll.splitlines()
    ]
    assert sum(len(sentence.spans) for sentence in read_conll(path)) == 3


@pytest.mark.parametrize(
    ("name", "start"),
    [("a.html", "<!doctype"), ("a.conll", "In\tO\t"), ("a.bio", "In\tO\n"), ("a.jsonl", "{")],
)
def test_the_output_format_follows_from_the_file_name(run, notes, model, tmp_path, name, start):
    result = run("find", notes, "--model", model, "-o", tmp_path / name)
    assert (result.status, result.out, result.err) == (0, "", "")
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_parquet_is_not_written_to_standard_output(run, notes, model):
    result = run("find", notes, "--model", model, "--to", "parquet")
    assert (result.status, result.out) == (1, "")
    assert result.error_line == (
        "Parquet is not written to standard output; name a file with --output"
    )


def test_a_lower_threshold_finds_more(run, notes, model):
    def found(threshold):
        out = run("find", notes, "--model", model, "--threshold", threshold).out
        return set(spans_of(records(out)[0]))

    assert found(1) == set()
    assert found(1) < found(0.5) <= found(0)


def test_a_terminal_gets_colours_and_a_pipe_gets_jsonl(run, notes, model, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert run("find", notes, "--model", model).out.startswith("{")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    shown = run("find", notes, "--model", model).out
    assert "\x1b[" in shown
    assert "3 entities" in shown


# The first line of a table names the columns of all records.
TABLES = {OutputFormat.PARQUET, OutputFormat.CSV, OutputFormat.TSV}


@pytest.mark.parametrize("form", sorted(set(OutputFormat) - TABLES))
@pytest.mark.parametrize("split", [True, False])
def test_output_begins_before_the_input_ends(finder, form, split, monkeypatch):
    """The input has no end at all."""
    monkeypatch.setattr("thresher.bulk.chunks.CHUNK_CHARACTERS", 500)
    monkeypatch.setattr("thresher.bulk.chunks.CHUNK_SENTENCES", 50)
    documents = (
        Document.from_words(["Magda", "left", "."], source="s", number=number)
        if split
        else Document("Magda left. " * 20, "s", number)
        for number in count(1)
    )
    pieces = EntityWriter(LocalFinder(finder), documents, 0.5).pieces(form)
    assert "Magda" in next(pieces) + next(pieces)


def test_an_unreadable_line_is_reported_and_the_rest_is_processed(run, tmp_path, model):
    path = tmp_path / "notes.jsonl"
    path.write_text('{"text": "Magda."}\n{oops\n{"text": 5}\n{"text": "Oslo."}\n', encoding="utf-8")
    result = run("find", path, "--model", model)
    assert [record["text"] for record in records(result.out)] == ["Magda.", "Oslo."]
    assert result.status == 1
    first, second, count_of_both = result.err.splitlines()
    assert first.startswith(f"thresher: {path} line 2: ")
    assert second.startswith(f"thresher: {path} line 3: ")
    assert count_of_both.startswith("thresher: 2 problems")


def test_garbage_is_collected_rarely_while_finding_and_normally_afterwards(run, notes, model):
    before = gc.get_threshold()
    during = []

    class Watched(EntityFinder):
        def score_texts(self, texts):
            during.append(gc.get_threshold()[0])
            return super().score_texts(texts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("thresher.EntityFinder", Watched)
        assert run("find", notes, "--model", model).status == 0
    assert during == [100_000]
    assert gc.get_threshold() == before


RECORDS = [
    {"id": 7, "text": "Magda went to Oslo.", "lang": "en", "source": "wire", "spans": []},
    {"id": 8, "text": "", "tags": ["a", {"b": None}]},
]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in RECORDS))
    return path


@pytest.mark.parametrize("workers", [[], ["--workers", "2"]])
def test_other_fields_appear_again_in_jsonl(run, table, small, workers):
    found = records(run("find", table, "--model", small, "--threshold", 0, *workers).out)
    assert [each["id"] for each in found] == [7, 8]
    assert found[0]["source"] == str(table)
    assert (found[0]["input_source"], found[0]["input_spans"]) == ("wire", [])
    assert [each["text"] for each in found[0]["spans"]]
    assert found[1]["tags"] == ["a", {"b": None}]


def test_other_fields_appear_again_in_every_format_with_a_place_for_them(run, table, small):
    def out(output_format):
        return run("find", table, "--model", small, "--to", output_format).out

    assert [each["meta"]["id"] for each in records(out("prodigy"))] == [7, 8]
    assert [each["id"] for each in records(out("doccano"))] == [7, 8]
    tasks = json.loads(out("label-studio"))
    assert [task["data"]["id"] for task in tasks] == [7, 8]
    assert "<dt>lang</dt><dd>en</dd>" in out("html")
    assert "id 7   lang en" in out("terminal")


def test_conll_has_the_fields_as_comments_that_can_be_read_again(run, table, small, tmp_path):
    conll = tmp_path / "a.conll"
    run("find", table, "--model", small, "-o", conll)
    lines = conll.read_text().splitlines()
    assert lines[:3] == ["# id = 7", "# lang = en", "# source = wire"]
    assert '# tags = ["a", {"b": null}]' in lines
    again = json.loads(run("find", conll, "--model", small).out)
    assert (again["id"], again["input_source"]) == ("7", "wire")
    assert "#" not in run("find", table, "--model", small, "--to", "iob2").out


def test_a_text_can_be_an_argument_and_standard_input_needs_none(run, small):
    found = records(run("find", "Magda went to Oslo.", "--model", small).out)
    assert [(each["text"], each["source"]) for each in found] == [
        ("Magda went to Oslo.", "argument")
    ]
    found = records(run("find", "--model", small, stdin="Magda went.\n").out)
    assert [(each["text"], each["source"]) for each in found] == [("Magda went.\n", "-")]
    assert run("find", "Magda", "--model", small).error_line == "no such file: Magda"


def test_a_column_and_an_encoding_can_be_chosen(run, small, tmp_path):
    table = tmp_path / "a.csv"
    table.write_bytes("id,body\n7,Renée left.\n".encode("latin-1"))
    out = run("find", table, "--column", "body", "--encoding", "latin-1", "--model", small).out
    assert [(each["id"], each["text"]) for each in records(out)] == [("7", "Renée left.")]


@pytest.mark.parametrize("workers", [[], ["--workers", "2"]])
def test_pages_are_read_and_their_text_is_part_of_the_output(run, small, tmp_path, workers):
    page = tmp_path / "a.html"
    page.write_text("<title>T</title><nav>Menu</nav><p>Magda &amp; Rosa left.")
    (found,) = records(run("find", page, "--model", small, *workers).out)
    assert (found["text"], found["title"]) == ("Magda & Rosa left.", "T")


@pytest.mark.parametrize("workers", [[], ["--workers", "2"]])
def test_names_of_a_file_are_always_or_never_reported(run, small, tmp_path, workers):
    always, never = tmp_path / "always.txt", tmp_path / "never.txt"
    always.write_text("the forge\n")
    never.write_text("/O.*/\n")
    options = ["--always", always, "--never", never, "--model", small, "--threshold", 0, *workers]
    (found,) = records(run("find", "Magda left the forge in Oslo.", *options).out)
    names = [span["text"] for span in found["spans"]]
    assert "the forge" in names
    assert "Oslo" not in names
