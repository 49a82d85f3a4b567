"""The configuration file of a run can be read again, whatever its values are."""

import tomllib

import pytest

from thresher.lm.run_config import read_run_config, to_toml


@pytest.mark.parametrize(
    "value",
    ["4", 'a "folder" \\ name\n', "é\u2028\U0001f600", "\x00\x1f\x7f", True, 0, 7, 1e-5, 1e22],
)
def test_every_value_is_read_as_it_was_written(value, tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(to_toml({"first": value, "unset": None}), encoding="utf-8")
    assert read_run_config(path) == {"first": value}
    assert type(tomllib.loads(path.read_text(encoding="utf-8"))["first"]) is type(value)
