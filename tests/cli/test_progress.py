"""Progress bars leave the terminal as they found it."""

import io

import pytest

from thresher.cli.progress import stage_bars

HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def use_terminal(monkeypatch):
    """Replace standard error; not in a fixture, because pytest replaces it before each test."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    return terminal


def test_the_cursor_is_shown_again_after_a_stage_that_was_stopped(monkeypatch):
    terminal = use_terminal(monkeypatch)

    def stopped_work():
        with stage_bars(quiet=False) as bars:
            bars.stage("tokens", 10)(3)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped_work()
    shown = terminal.getvalue()
    assert "tokens" in shown
    assert shown.rindex(SHOW_CURSOR) > shown.rindex(HIDE_CURSOR)


def test_a_bar_ends_with_its_stage(monkeypatch):
    terminal = use_terminal(monkeypatch)
    with stage_bars(quiet=False) as bars:
        advance = bars.stage("tokens", 10)
        advance(10)
        assert SHOW_CURSOR in terminal.getvalue()
        bars.stage("test", 5)
        assert terminal.getvalue().count(HIDE_CURSOR) == 2
