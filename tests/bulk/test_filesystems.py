"""Remote files: in fsspec's memory, and on a local server with the API of S3."""

import json

import pytest
from pyarrow.fs import S3FileSystem

from thresher.bulk.blocks import plan_blocks
from thresher.bulk.filesystems import find_files, list_files, read_file, write_file
from thresher.bulk.finder_choice import FinderChoice
from thresher.bulk.run import BulkRun
from thresher.errors import InputError


@pytest.fixture(scope="module")
def s3():
    """The URL of a bucket."""
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
def remote(request):
    return "memory://shop" if request.param == "memory" else request.getfixturevalue("s3")


def test_remote_files_are_written_found_and_read(remote):
    assert read_file(f"{remote}/deep/none.txt") is None
    for name in ("deep/a.txt", "deep/b.jsonl", "deep/c.bin"):
        write_file(f"{remote}/{name}", name.encode())
    assert read_file(f"{remote}/deep/a.txt") == b"deep/a.txt"
    found = find_files([f"{remote}/deep"])
    assert [name.rpartition("/")[2] for name in found] == ["a.txt", "b.jsonl"]
    assert [read_file(name) for name in found] == [b"deep/a.txt", b"deep/b.jsonl"]
    [one] = find_files([f"{remote}/deep/*.bin"])
    assert read_file(one) == b"deep/c.bin"
    for name in ("deep/a.txt", "deep/c.bin"):
        assert find_files([f"{remote}/{name}"]) == [f"{remote}/{name}"]


@pytest.mark.parametrize(
    "pattern", ["*.txt", "*/*.txt", "**/*.txt", "deep/**/*.txt", "d?ep/*", "[ab].*", "*/er/c.txt"]
)
def test_a_remote_pattern_matches_the_same_files_as_a_local_one(tmp_path, pattern):
    for name in ("a.txt", "b.md", "c.txt", "deep/a.txt", "deep/er/c.txt", "dep/a.txt"):
        write_file(str(tmp_path / name), b"Oslo")
    here = find_files([f"{tmp_path}/{pattern}"])
    assert find_files([f"file://{tmp_path}/{pattern}"]) == [f"file://{name}" for name in here]


def test_a_url_without_files_is_rejected(remote):
    with pytest.raises(InputError, match="no file matches"):
        find_files([f"{remote}/deep/*.parquet"])
    for name in ("none", "none.txt"):
        with pytest.raises(InputError, match=f"no text at {remote}/{name}: looked for .bio, "):
            find_files([f"{remote}/{name}"])
        with pytest.raises(InputError, match=f"there is no file {remote}/{name}"):
            plan_blocks([f"{remote}/{name}"])


def test_a_file_instead_of_a_folder_is_rejected(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=f"cannot read {tmp_path}/file/plan.json: "):
        BulkRun(f"{tmp_path}/file", FinderChoice()).start([])


def test_a_run_reads_and_writes_remote_files(remote, small):
    lines = [json.dumps({"id": i, "text": "The letter was sent to Oslo."}) for i in range(5)]
    write_file(f"{remote}/in/x.jsonl", "\n".join(lines).encode())
    run = BulkRun(f"{remote}/out", FinderChoice(small, "cpu"))
    finder = run.finder_choice.load()
    blocks = plan_blocks(find_files([f"{remote}/in/*.jsonl"]))
    assert [run.process(finder, block).rows for block in run.start(blocks)] == [5]
    assert run.start(blocks) == []
    assert run.write_manifest()["entities"] == 5
    assert len(list_files(f"{remote}/out")) == 4
    [part] = [name for name in list_files(f"{remote}/out") if "part-" in name]
    assert [json.loads(line)["id"] for line in read_file(part).splitlines()] == list(range(5))


def test_an_unknown_url_scheme_is_rejected():
    with pytest.raises(InputError, match="cannot access nowhere://a"):
        read_file("nowhere://a")
