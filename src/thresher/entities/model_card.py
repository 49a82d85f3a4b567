"""The model card of a finder: a README.md that says how it was trained and how to use it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thresher.entities.model import FinderModel

CREDITS = ("licence", "sources")  # keys of `learned_from` that a student inherits from its teacher


def card(model: "FinderModel") -> str:
    """Return the model card in Markdown, with the front matter that the Hub reads."""
    record, weights = model.learned_from, model.signal_weights
    licence = [f"license: {record['licence']}"] if "licence" in record else []
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
            "This model finds entities in text. It was trained on raw text, without labels.",
            "",
            *_origin(model),
            "- Weights of the signals besides the gates, in log-odds: capital "
            f"{weights.capital:+.2f}, lower case {weights.lower:+.2f}, repeated "
            f"{weights.repeated:+.2f}.",
            f"- Threshold: {model.threshold:.2f}, which maximizes the expected F1 on the training "
            "text.",
            "",
            *_sources(record),
            "```python",
            "from thresher import EntityFinder",
            'finder = EntityFinder.from_pretrained("this-folder")  # or its name on the Hub',
            'finder.find("Marie Curie moved to Paris.")',
            "```",
            "",
        ]
    )


def source_table(record: Mapping[str, Any]) -> str:
    """Return a table of the training texts and their licences."""
    rows = [f"| {text} | {licence} |" for text, licence in record["sources"]]
    return "\n".join(["| text | licence |", "|---|---|", *rows])


def _sources(record: Mapping[str, Any]) -> list[str]:
    if "sources" not in record:
        return []
    return [
        "The model, or the model it was distilled from, was trained on these texts, and its "
        "licence follows from theirs:",
        "",
        source_table(record),
        "",
    ]


def _amount(record: Mapping[str, Any]) -> str:
    return f"{record.get('words', 0):,} words in {record.get('sentences', 0):,} sentences"


def _origin(model: "FinderModel") -> list[str]:
    return _distilled_origin(model) if model.static or model.layers else _trained_origin(model)


def _distilled_origin(model: "FinderModel") -> list[str]:
    teacher = model.learned_from.get("teacher", {})
    if model.static:
        encoder = (
            "- Encoder: token vectors and a convolution over words, saved in this folder; its "
            "input is case-folded. There is no transformer."
        )
    else:
        encoder = (
            f"- Encoder: the word embeddings of `{model.encoder}` and {model.layer} layers of a "
            "transformer that are saved in this folder; its input is case-folded."
        )
    return [
        encoder,
        f"- Distilled from a finder with the encoder `{teacher.get('encoder')}`, layer "
        f"{teacher.get('layer')}, on {_amount(model.learned_from)} of raw text.",
    ]


def _trained_origin(model: "FinderModel") -> list[str]:
    features, record = model.features, model.learned_from
    return [
        f"- Encoder: `{model.encoder}`, layer {model.layer}; its input is case-folded.",
        f"- Gates: one per {features.unit}; attention features: {features.attention or 'none'}; "
        f"selectors: {len(model.selectors)}, of which number {model.entity + 1} finds entities.",
        f"- Trained on {_amount(record)} of raw text.",
        f"- Priors: {', '.join(record.get('priors', []))}; a list of {len(model.not_names)} words "
        "that are not names.",
    ]
