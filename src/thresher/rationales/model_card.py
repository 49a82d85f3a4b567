"""The model card (README.md) of a rationale model."""

from collections.abc import Mapping
from typing import Any

_MODES = {
    "frozen": "trained on whole texts first, then frozen; the gates were trained to keep its "
    "answers",
    "joint": "trained together with the gates, on the words that they select",
}


def model_card(config: Mapping[str, Any]) -> str:
    """Return the text of the card for the config of a model."""
    made = config["learned_from"]
    figures = made.get("held_out", {})
    lines = [
        "---",
        "library_name: thresher",
        "tags: [text-classification, rationales]",
        "---",
        "",
        "# A Thresher rationale model",
        "",
        "Labels a text and selects the words that the label rests on.",
        "",
        f"- Encoder: `{config['encoder']}`, on case-folded text; gates read layer "
        f"{config['layer']}.",
        f"- Labels: {', '.join(config['labels'])}.",
        f"- Classifier: {_MODES.get(config['mode'], config['mode'])}.",
        f"- Gates: {config['form']}; closed words are removed at the {config['gates_at']}.",
        f"- Trained on {made.get('texts', 0):,} labelled texts, {made.get('words', 0):,} words.",
    ]
    if figures:
        lines.append(
            f"- On {figures['texts']:,} held-out texts: accuracy {figures['accuracy']:.3f}; from "
            f"rationales alone {figures['accuracy_from_rationale']:.3f}, without them "
            f"{figures['accuracy_without']:.3f}; {figures['selected']:.1%} of words selected."
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
