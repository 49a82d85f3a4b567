"""The rows of the rationale benchmark: one way each to learn rationales for a task."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.data import ALL_RESULTS
from thresher.rationales.choices import ReferenceSelection

RESULTS = ALL_RESULTS / "rationales"


@dataclass(frozen=True)
class Row:
    """One way to learn rationales for one task.

    settings: changes to the default `RationaleSettings`
    references: other ways to select the same number of words, measured for comparison
    """

    task: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    references: tuple[str, ...] = ()


_REINFORCE = {"estimator": "reinforce", "form": "thresholded"}
_JOINT = {"mode": "joint"}
_TWO = {**_REINFORCE, "baseline": "others", "samples": 2}
ROWS = {
    "synthetic stretched": Row("synthetic", references=("random", "gradient")),
    "synthetic thresholded": Row("synthetic", {"form": "thresholded"}),
    "synthetic REINFORCE, no baseline": Row("synthetic", {**_REINFORCE, "baseline": "none"}),
    "synthetic REINFORCE, average": Row("synthetic", _REINFORCE),
    "synthetic REINFORCE, two samples": Row("synthetic", _TWO),
    "synthetic no expected selection": Row("synthetic", {"selection": 0.0}),
    "synthetic joint": Row("synthetic", _JOINT),
    "synthetic joint from scratch": Row("synthetic", {**_JOINT, "head_start": False, "steps": 180}),
    "synthetic joint REINFORCE": Row("synthetic", {**_REINFORCE, **_JOINT}),
    "sources stretched": Row("sources", references=tuple(ReferenceSelection)),
    "sources REINFORCE, two samples": Row("sources", _TWO),
    "sources pooled": Row("sources", {"gates_at": "pool"}, references=("random",)),
    "sources joint": Row("sources", {"mode": "joint"}, references=("random",)),
}
