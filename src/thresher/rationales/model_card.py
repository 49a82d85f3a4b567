"""The README of a model of rationales."""

from collections.abc import Mapping
from typing import Any

_MODES = {
    "frozen": "learned from whole texts first, then kept as it was; gates learned to keep its "
    "answers",
    "joint": "learned together with the gates, from what they let through",
}


def card(config: Mapping[str, Any]) -> str:
    """What a reader of the folder should know, from the model's config."""
    made = config["learned_from"]
    figures = made.get("held_out", {})
    lines = [
        "---",
        "library_name: thresher",
        "tags: [text-classification, rationales]",
        "---",
        "",
        "# A Thresher model of rationales",
        "",
        "Labels a text and marks the words that carry the answer.",
        "",
        f"- Encoder: `{config['encoder']}`, fed case-folded text; gates read layer "
        f"{config['layer']}.",
        f"- Labels: {', '.join(config['labels'])}.",
        f"- Classifier: {_MODES.get(config['mode'], config['mode'])}.",
        f"- Gates: {config['form']}, closed words taken away at the {config['gates_at']}.",
        f"- Learned from {made.get('texts', 0):,} labelled texts, {made.get('words', 0):,} words.",
    ]
    if figures:
        lines.append(
            f"- On {figures['texts']:,} held-out texts: accuracy {figures['accuracy']:.3f}; from "
            f"rationales alone {figures['accuracy_from_rationale']:.3f}, without them "
            f"{figures['accuracy_without']:.3f}, {figures['selected']:.1%} of words selected."
        )
    lines += [f"- Warning: {warning}." for warning in made.get("warnings", [])]
    lines += [
        "",
        "```python",
        "from thresher.rationales.finder import RationaleFinder",
        'finder = RationaleFinder.load("this-folder")',
        "```",
        "",
    ]
    return "\n".join(lines)
