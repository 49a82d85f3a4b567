"""Which scripts a model can read, and a message for a text that it cannot read."""

from collections.abc import Mapping, Set
from typing import Any

from thresher.entities.built_in import MULTILINGUAL
from thresher.text.scripts import scripts_of

ENGLISH_ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
_MAX_NAMES = 3


def readable_scripts(encoder: str, record: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the scripts that a model can read; None if it can read all, or it is not known.

    encoder: the name of its encoder
    record: `learned_from` of the model, with the scripts of its training text if they are known
    """
    scripts = frozenset(map(str, record.get("scripts", ())))
    teacher = record.get("teacher")
    encoders = {encoder, teacher.get("encoder") if isinstance(teacher, dict) else None}
    if ENGLISH_ENCODER in encoders:
        return scripts | {"Latin"}
    return None


def unreadable_text(text: str, scripts: Set[str] | None) -> str | None:
    """Return a message if most letters of a text are in other scripts than these, else None.

    scripts: those that a model can read; None for all
    """
    if scripts is None:
        return None
    found = scripts_of(text)
    if not found or sum(part for name, part in found.items() if name in scripts) >= 0.5:
        return None
    names = ", ".join([name for name in found if name not in scripts][:_MAX_NAMES])
    return (
        f"the text is in the script {names}, which the model cannot read; "
        f"use `model={MULTILINGUAL}`"
    )
