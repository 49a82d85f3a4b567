"""Options in groups: Typer sees single options, a command receives one object per group."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from thresher.cli.option_groups import OptionGroup, argument, flag, option, with_option_groups


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, kw_only=True)
class PaintOptions(OptionGroup):
    colour: Annotated[Colour | None, option("Colour.", metavar="NAME")] = None
    coats: Annotated[int | None, option("Number of coats.", metavar="N", min=1)] = None
    share: Annotated[list[float] | None, option("Mixture.", metavar="RATE", min=0)] = None


@pytest.fixture
def paint():
    """Run a command with arguments; return what it received."""
    received = {}
    app = typer.Typer()

    @app.command()
    @with_option_groups
    def command(
        wall: Annotated[str, argument("What to paint.", metavar="WALL")],
        paint: PaintOptions,
        wet: Annotated[bool, flag("Paint is wet.", "--wet")] = False,
    ) -> None:
        """Paint a wall."""
        received.update(wall=wall, paint=paint, wet=wet)

    def run(*arguments):
        result = CliRunner().invoke(app, arguments)
        return received if result.exit_code == 0 else result.exit_code

    return run


def test_a_command_receives_its_groups_as_objects(paint):
    options = ["--colour", "red", "--coats", "2", "--share", "0.5", "--share", "1", "--wet"]
    expected = PaintOptions(colour=Colour.RED, coats=2, share=[0.5, 1.0])
    assert paint("north", *options) == {"wall": "north", "paint": expected, "wet": True}


def test_options_that_were_not_given_are_left_to_the_library(paint):
    received = paint("north", "--colour", "blue")
    assert received["paint"].given_options() == {"colour": "blue"}
    assert type(received["paint"].given_options()["colour"]) is str


@pytest.mark.parametrize(
    "options",
    [
        ["--colour", "green"],
        ["--coats", "0"],
        ["--coats", "1.5"],
        ["--share", "-1"],
        ["--share", "inf"],
        ["--share", "0.5", "--share", "nan"],
    ],
)
def test_values_out_of_range_are_mistyped(paint, options):
    assert paint("north", *options) == 2
