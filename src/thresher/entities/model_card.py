"""The README of a finder: what it reads, what it learned from, and what it may be used for."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thresher.entities.model import FinderModel

CREDITS = ("licence", "sources")  # of `learned_from`; they hold for all that is made of a model


def card(model: "FinderModel") -> str:
    """Markdown with the front matter that the Hub reads."""
    made, trust = model.learned_from, model.signal_weights
    licence = [f"license: {made['licence']}"] if "licence" in made else []
    return "\n".join(
        [
            "---",
            "library_name: thresher",
            *licence,
            "pipeline_tag: token-classification",
            "tags: [named-entities, unsupervised]",
            "---",
            "",
            "# A Thresher entity finder",
            "",
            "Finds entities in text; trained on raw text with no labels.",
            "",
            *_origin(model),
            f"- SignalWeights in the observed views, in log-odds: capital {trust.capital:+.2f}, "
            f"lower case {trust.lower:+.2f}, repeated {trust.repeated:+.2f}.",
            f"- Threshold: {model.threshold:.2f}, where expected F1 is largest on that text.",
            "",
            *_sources(made),
            "```python",
            "from thresher import EntityFinder",
            'finder = EntityFinder.from_pretrained("this-folder")  # or its name on the Hub',
            'finder.find("Marie Curie moved to Paris.")',
            "```",
            "",
        ]
    )


def source_table(made: Mapping[str, Any]) -> str:
    """The texts a model learned from, and their licences."""
    rows = [f"| {text} | {licence} |" for text, licence in made["sources"]]
    return "\n".join(["| text | licence |", "|---|---|", *rows])


def _sources(made: Mapping[str, Any]) -> list[str]:
    if "sources" not in made:
        return []
    return [
        "It, or the model it was made of, learned from these texts, and its licence follows "
        "from theirs:",
        "",
        source_table(made),
        "",
    ]


def _origin(model: "FinderModel") -> list[str]:
    made = model.learned_from
    text = f"{made.get('words', 0):,} words in {made.get('sentences', 0):,} sentences of raw text"
    if model.static is not None:
        teacher = made.get("teacher", {})
        return [
            "- Encoder: token vectors and a convolution over words, in this folder, fed "
            "case-folded text; no transformer.",
            f"- Its gates were taught by a finder on `{teacher.get('encoder')}`, layer "
            f"{teacher.get('layer')}, on {text}.",
        ]
    return [
        f"- Encoder: `{model.encoder}`, layer {model.layer}, fed case-folded text.",
        f"- A gate for each {model.features.unit}; attention: "
        f"{model.features.attention or 'not read'}; selectors: {len(model.heads)}, of which "
        f"number {model.entity + 1} finds entities.",
        f"- Learned from {text}.",
        f"- Priors: {', '.join(made.get('priors', []))}; "
        f"{len(model.not_names)} words listed as not names.",
    ]
