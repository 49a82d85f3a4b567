"""The Dockerfile: it copies what the build needs, runs as a user, and starts the real command."""

import json
import re
from fnmatch import fnmatch
from pathlib import Path

import typer.main

from thresher.cli.app import build_app
from thresher.web.access import HEALTH_PATH

ROOT = Path(__file__).parents[1]


def instructions() -> list[tuple[str, str]]:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines()]


def values(name: str) -> list[str]:
    return [value for instruction, value in instructions() if instruction == name]


def test_everything_that_is_copied_exists_and_is_sent_to_the_build():
    sent = [
        line[1:]
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    ]
    copied = [
        source
        for value in values("COPY")
        if not value.startswith("--from")
        for source in value.split()[:-1]
    ]
    assert "constraints.txt" in copied
    for source in copied:
        assert (ROOT / source).exists()
        assert any(fnmatch(source, each) for each in sent), source
    [project] = re.findall(r"^readme = \"(.*)\"$", (ROOT / "pyproject.toml").read_text(), re.M)
    assert project in copied


def test_the_last_user_has_no_privileges_and_comes_before_the_command():
    names = [name for name, _ in instructions()]
    assert values("USER")[-1] not in ("root", "0")
    assert names.index("USER") < names.index("CMD")


def test_the_command_starts_the_server_that_the_health_check_asks():
    [entry] = map(json.loads, values("ENTRYPOINT"))
    [arguments] = map(json.loads, values("CMD"))
    assert entry == ["thresher"]
    group = typer.main.get_command(build_app("serve"))
    command = group.commands[arguments[0]]
    options = command.make_context("serve", list(arguments[1:])).params
    assert options["host"] == "0.0.0.0"
    [check] = values("HEALTHCHECK")
    assert f"127.0.0.1:{options['port']}{HEALTH_PATH}'" in check
    assert values("EXPOSE") == [str(options["port"])]
    compile(json.loads(check.partition("CMD ")[2])[2], "health check", "exec")
