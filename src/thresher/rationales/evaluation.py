"""Evaluate rationales on labelled texts, and compare them with other selections of words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from thresher.entities.evaluation import Counts
from thresher.errors import InputError, WarningHandler, raise_input_error
from thresher.progress import ProgressReporter, SilentProgress
from thresher.rationales.attribution import contributions, gradient_scores, random_scores, top_words
from thresher.rationales.choices import ReferenceSelection
from thresher.rationales.classifier import Classifier, GatedEncoder
from thresher.rationales.faithfulness import Faithfulness, measure_faithfulness
from thresher.rationales.finder import RationaleFinder, split_words
from thresher.rationales.inference import Words, probabilities
from thresher.rationales.labelled_texts import LabelledText
from thresher.text.sentences import Word


@dataclass(frozen=True)
class RationaleEvaluation:
    """The figures of a rationale finder.

    faithfulness: for each selection, "rationale" or the name of a reference selection
    gold_words: selected words against those of gold rationales, over the texts that have one;
        None if no text has one
    """

    faithfulness: dict[str, Faithfulness]
    gold_words: Counts | None


def evaluate_rationales(
    finder: RationaleFinder,
    texts: Sequence[LabelledText],
    *,
    threshold: float | None = None,
    references: Sequence[str] = (ReferenceSelection.RANDOM, ReferenceSelection.GRADIENT),
    on_problem: WarningHandler | None = None,
    progress: ProgressReporter | None = None,
) -> RationaleEvaluation:
    """Measure a finder on labelled texts, and reference selections of the same number of words.

    threshold: the minimum P(open) of a word in a rationale; by default that of the model
    on_problem: called with one line for each text whose label the model does not know; without it
        the first of them raises `InputError`
    """
    known = _texts_with_known_labels(texts, finder.labels, on_problem or raise_input_error)
    located_words = [split_words(each.text) for each in known]
    words = [[word.text for word in each] for each in located_words]
    selected = finder.selected(finder.scores(words), threshold)
    versions = 1 + 2 * (1 + len(references))  # each text whole, and with and without each selection
    figures = compare_selections(
        finder.gated_encoder,
        finder.model.classifier,
        words,
        torch.tensor([finder.labels.index(each.label or "") for each in known]),
        selected,
        references=references,
        progress=(progress or SilentProgress()).stage("evaluating", len(known) * versions),
    )
    return RationaleEvaluation(figures, _gold_word_counts(known, located_words, selected))


def compare_selections(
    gated_encoder: GatedEncoder,
    classifier: Classifier,
    texts: Sequence[Words],
    labels: Tensor,
    selected: Sequence[Tensor],
    *,
    references: Sequence[str] = tuple(ReferenceSelection),
    seed: int = 0,
    progress: Callable[[int], None] = lambda texts: None,
) -> dict[str, Faithfulness]:
    """Measure rationales and, for each text, reference selections of the same number of words.

    random: words drawn at random
    gradient: the words with the largest |∂ log p(answer)/∂ gate|
    integrated gradients: the words whose removal lowers log p(answer) most, with the gradients
        averaged on the way from no words to all words
    labels: (texts,)   selected: for each text (words,), true where a word is in its rationale
    """
    whole = probabilities(gated_encoder, classifier, texts, progress=progress)
    answers = whole.argmax(-1)
    counts = [int(each.sum()) for each in selected]
    scores: dict[str, Callable[[], list[Tensor]]] = {
        ReferenceSelection.RANDOM: lambda: random_scores(
            texts, generator=Generator().manual_seed(seed)
        ),
        ReferenceSelection.GRADIENT: lambda: [
            each.abs() for each in gradient_scores(gated_encoder, classifier, texts, answers)
        ],
        ReferenceSelection.INTEGRATED_GRADIENTS: lambda: contributions(
            gated_encoder, classifier, texts, answers
        ),
    }
    selections = {"rationale": list(selected)}
    selections |= {str(name): top_words(scores[name](), counts) for name in references}
    return {
        name: measure_faithfulness(
            gated_encoder, classifier, texts, labels, each, whole=whole, progress=progress
        )
        for name, each in selections.items()
    }


def selected_word_counts(gold: Sequence[Tensor], selected: Sequence[Tensor]) -> Counts:
    """Count selected words that are gold, over all texts; for each text (words,)."""
    pairs = [(g.bool(), s.bool()) for g, s in zip(gold, selected, strict=True)]
    return Counts(
        correct=sum(int((g & s).sum()) for g, s in pairs),
        predicted=sum(int(s.sum()) for _, s in pairs),
        gold=sum(int(g.sum()) for g, _ in pairs),
    )


def _texts_with_known_labels(
    texts: Sequence[LabelledText], labels: Sequence[str], on_problem: WarningHandler
) -> list[LabelledText]:
    known = []
    for each in texts:
        if each.label in labels:
            known.append(each)
        else:
            on_problem(
                f"{each.source} line {each.number}: unknown label {each.label!r}; "
                f"the model knows {', '.join(labels)}"
            )
    if not known:
        raise InputError("no text has a label that the model knows")
    return known


def _gold_word_counts(
    texts: Sequence[LabelledText], words: Sequence[Sequence[Word]], selected: Sequence[Tensor]
) -> Counts | None:
    """Compare with the words that overlap a gold span, in the texts that have gold spans."""
    with_gold = [i for i, each in enumerate(texts) if each.gold is not None]
    if not with_gold:
        return None
    gold = [
        torch.tensor(
            [any(s < w.end and w.start < e for s, e in texts[i].gold or ()) for w in words[i]]
        )
        for i in with_gold
    ]
    return selected_word_counts(gold, [selected[i] for i in with_gold])
