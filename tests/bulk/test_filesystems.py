"""Files far away: whatever fsspec knows, and S3 as a server on this machine speaks it."""

import json

import pytest
from pyarrow.fs import S3FileSystem

from thresher.bulk.blocks import planned
from thresher.bulk.filesystems import find_places, names_under, read_whole, write_whole
from thresher.bulk.finder_choice import ModelChoice
from thresher.bulk.run import BulkRun
from thresher.errors import InputError


@pytest.fixture(scope="module")
def s3():
    """The address of a bucket."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "someone")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        S3FileSystem(
            endpoint_override=f"http://{host}:{port}", allow_bucket_creation=True
        ).create_dir("bucket")
        yield "s3://bucket"
    server.stop()


@pytest.fixture(params=["memory", "s3"])
def far(request):
    return "memory://shop" if request.param == "memory" else request.getfixturevalue("s3")


def test_what_is_written_far_away_is_found_and_read_there(far):
    assert read_whole(f"{far}/deep/none.txt") is None
    for name in ("deep/a.txt", "deep/b.jsonl", "deep/c.bin"):
        write_whole(f"{far}/{name}", name.encode())
    assert read_whole(f"{far}/deep/a.txt") == b"deep/a.txt"
    found = find_places([f"{far}/deep"])
    assert [name.rpartition("/")[2] for name in found] == ["a.txt", "b.jsonl"]
    assert [read_whole(name) for name in found] == [b"deep/a.txt", b"deep/b.jsonl"]
    [one] = find_places([f"{far}/deep/*.bin"])
    assert read_whole(one) == b"deep/c.bin"
    for name in ("deep/a.txt", "deep/c.bin"):
        assert find_places([f"{far}/{name}"]) == [f"{far}/{name}"]


@pytest.mark.parametrize(
    "pattern", ["*.txt", "*/*.txt", "**/*.txt", "deep/**/*.txt", "d?ep/*", "[ab].*", "*/er/c.txt"]
)
def test_a_pattern_means_far_away_what_it_means_here(tmp_path, pattern):
    for name in ("a.txt", "b.md", "c.txt", "deep/a.txt", "deep/er/c.txt", "dep/a.txt"):
        write_whole(str(tmp_path / name), b"Oslo")
    here = find_places([f"{tmp_path}/{pattern}"])
    assert find_places([f"file://{tmp_path}/{pattern}"]) == [f"file://{name}" for name in here]


def test_an_address_with_nothing_there_is_told(far):
    with pytest.raises(InputError, match="no file matches"):
        find_places([f"{far}/deep/*.parquet"])
    for name in ("none", "none.txt"):
        with pytest.raises(InputError, match=f"no text at {far}/{name}: looked for .bio, "):
            find_places([f"{far}/{name}"])
        with pytest.raises(InputError, match=f"there is no file {far}/{name}"):
            planned([f"{far}/{name}"])


def test_a_file_where_a_folder_should_be_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=f"cannot list {tmp_path}/file: "):
        BulkRun(f"{tmp_path}/file", ModelChoice()).begin([])


def test_a_run_reads_and_writes_far_away(far, small):
    lines = [json.dumps({"id": i, "text": "The letter was sent to Oslo."}) for i in range(5)]
    write_whole(f"{far}/in/x.jsonl", "\n".join(lines).encode())
    run = BulkRun(f"{far}/out", ModelChoice(small, "cpu"))
    finder = run.model.load()
    blocks = planned(find_places([f"{far}/in/*.jsonl"]))
    assert [run.do(finder, block).rows for block in run.begin(blocks)] == [5]
    assert run.begin(blocks) == []
    assert run.conclude()["entities"] == 5
    assert len(names_under(f"{far}/out")) == 4
    [part] = [name for name in names_under(f"{far}/out") if "part-" in name]
    assert [json.loads(line)["id"] for line in read_whole(part).splitlines()] == list(range(5))


def test_an_unknown_kind_of_address_is_told():
    with pytest.raises(InputError, match="cannot reach nowhere://a"):
        read_whole("nowhere://a")
