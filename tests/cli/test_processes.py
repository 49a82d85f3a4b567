"""Commands as child processes: closed pipes, Ctrl-C, and output on standard error."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

# As `python -m thresher`, but never deaf to Ctrl-C, as what a job in the background starts is.
HEEDING = "signal.signal(signal.SIGINT, signal.default_int_handler)"
COMMAND = f"import signal, sys; {HEEDING}; from thresher.cli import main; sys.exit(main())"
THRESHER = [sys.executable, "-c", COMMAND]
ONE_THREAD = os.environ | {"OMP_NUM_THREADS": "1"}


def start(*arguments: object, stderr: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*THRESHER, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=ONE_THREAD,
        start_new_session=True,
    )


def shown_on_a_terminal(*arguments: object) -> str:
    """Run a command and return what it writes to a terminal as standard error."""
    ours, theirs = os.openpty()
    shown = b""
    with start(*arguments, stderr=theirs) as process:
        os.close(theirs)
        with contextlib.suppress(OSError):  # raised when the other end of the terminal is closed
            while piece := os.read(ours, 4096):
                shown += piece
    os.close(ours)
    assert process.returncode == 0
    return shown.decode()


def stop_all(process: subprocess.Popen[bytes]) -> None:
    """Send Ctrl-C to the whole process group, as a terminal does."""
    os.killpg(process.pid, signal.SIGINT)


def names_in(folder):
    return sorted(file.name for file in folder.iterdir())


def test_a_closed_pipe_is_not_an_error(model, tmp_path):
    path = tmp_path / "long.jsonl"
    record = json.dumps({"text": "Magda left Oslo." + " " * 200_000})  # more than a pipe holds
    path.write_text(f"{record}\n" * 4, encoding="utf-8")
    with start("find", path, "--model", model) as process:
        assert json.loads(process.stdout.readline())["spans"][0]["text"] == "Magda"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def wait_for(path, process):
    deadline = time.monotonic() + 300
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_closed_streams_are_not_an_error(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("Magda left Oslo.", encoding="utf-8")
    find = [*THRESHER, "find", str(notes), "--model", "fast-english"]
    subprocess.run(["sh", "-c", '"$@" >&- 2>&-', "sh", *find], env=ONE_THREAD, check=True)
    unread = subprocess.run(
        ["sh", "-c", '"$@" <&-', "sh", *THRESHER, "find", "-"],
        env=ONE_THREAD,
        capture_output=True,
        check=False,
    )
    assert unread.returncode == 1
    assert unread.stderr == b"thresher: cannot read standard input: it is closed\n"


def test_a_resumed_fit_gives_the_same_model(short_corpus, tmp_path):
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    command = ["fit", short_corpus, "--epochs", "80", "--contrast", "0", "-o"]

    with start(*command, stopped) as process:
        wait_for(tmp_path / "stopped.partial" / "checkpoint.safetensors", process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out) == (130, b"")
    assert err.decode().splitlines(keepends=True)[-1] == (
        "thresher: stopped; run the same command with --resume to continue from "
        f"{stopped}.partial\n"
    )
    assert names_in(tmp_path) == ["stopped.partial"]

    with start(*command, stopped, "--resume", "--quiet") as process:
        out, err = process.communicate()
    assert out == b""
    assert re.fullmatch(rb"thresher: warning: [\d,]+ words are few to learn from.*\n", err)
    shown = shown_on_a_terminal(*command, whole)
    for stage in ("loading", "encoding", "training"):
        assert stage in shown
    assert names_in(tmp_path) == ["stopped", "whole"]
    for file in whole.iterdir():
        assert file.read_bytes() == (stopped / file.name).read_bytes(), file.name


def test_a_stopped_find_leaves_no_file(model, tmp_path):
    source, found = tmp_path / "pipe", tmp_path / "found.jsonl"
    os.mkfifo(source)
    command = ["find", source, "--model", model, "-o", found]
    with start(*command) as process, source.open("wb"):  # open once the other side reads
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert (process.returncode, err) == (130, b"thresher: stopped\n")
    assert names_in(tmp_path) == ["pipe"]


def test_workers_write_what_one_process_writes_and_stop_together(run, model, tmp_path):
    source = tmp_path / "pipe"
    os.mkfifo(source)
    line = json.dumps({"text": "In Oslo boats are counted by Rosa." + " " * 140_000}).encode()
    command = ["find", source, "--from", "jsonl", "--model", model, "--workers", "2"]
    with start(*command) as process, source.open("wb") as pipe:
        for _ in range(4):  # as many as are under way when the first is written
            pipe.write(line + b"\n")
            pipe.flush()
        first = process.stdout.readline().decode()
        stop_all(process)
        rest, err = process.communicate()
    assert (process.returncode, err) == (130, b"thresher: stopped\n")
    assert rest.count(b"\n") <= 1
    alone = run("find", "-", "--from", "jsonl", "--model", model, stdin=line.decode() + "\n")
    assert json.loads(first)["spans"] == json.loads(alone.out)["spans"]
