"""Progress bars leave the terminal as they found it."""

import io

import pytest

from thresher.cli.progress import progress_bars
from thresher.lm.training.state import TrainingProgress

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


def test_the_cursor_is_shown_again_after_work_that_was_stopped(monkeypatch):
    terminal = use_terminal(monkeypatch)

    def stopped_work():
        with progress_bars(quiet=False) as bars:
            bars.stage("tokens", 10)(3)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped_work()
    shown = terminal.getvalue()
    assert "tokens" in shown
    assert shown.rindex(SHOW_CURSOR) > shown.rindex(HIDE_CURSOR)


def test_the_bar_of_training_appears_with_its_first_step(monkeypatch):
    terminal = use_terminal(monkeypatch)
    with progress_bars(quiet=False) as bars:
        show = bars.training("training")
        bars.stage("tokens", 10)(10)
    assert "training" not in terminal.getvalue()
    with progress_bars(quiet=False) as bars:
        show = bars.training("training")
        show(TrainingProgress(20, 40, 3.25, 1234.5, seconds_left=4.0))
    shown = terminal.getvalue()
    assert "training" in shown
    assert "20/40" in shown
    assert "loss 3.250  1,234 tokens/s" in shown
