"""Label texts, and find the words that the labels depend on."""

from collections.abc import Iterable, Iterator, Sequence, Set
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from thresher.encoders import Encoder, load_encoder
from thresher.entities.priors.word_priors import WordListPrior, first_probability
from thresher.errors import InputError
from thresher.gates.batching import batches_by_length, group_by_words
from thresher.gates.selector import open_probabilities
from thresher.gates.word_vectors import encode_words
from thresher.progress import ProgressReporter, SilentProgress
from thresher.rationales.attribution import contributions
from thresher.rationales.choices import RationaleMethod
from thresher.rationales.classifier import GatedEncoder
from thresher.rationales.corpus import split_by_text
from thresher.rationales.fit import FittedRationales, fit_rationales
from thresher.rationales.inference import probabilities
from thresher.rationales.model import RationaleModel
from thresher.rationales.settings import RationaleSettings
from thresher.rationales.spans import relative_sizes, span_sums, spans_of, strongest_words
from thresher.rationales.training import OPEN
from thresher.text.annotations import Span
from thresher.text.sentences import Word, segment
from thresher.validation import require_choice

_WORDS_PER_GROUP = 20_000  # of several texts that are encoded in common batches
_WORDS_PER_BATCH = {"cpu": 2048, "cuda": 32_768}


@dataclass(frozen=True)
class Explanation:
    """The label of a text and the spans of words it depends on.

    The kind of a span is "for" if its words make the label more probable, and "against" if they
    make it less probable.

    probability: of the label, given the whole text (mode "frozen") or the rationale ("joint")
    from_rationale: the probability of the same label, given the words of the spans alone
    contributions: what each span adds to the logarithm of the probability, by integrated gradients
    """

    label: str
    probability: float
    from_rationale: float
    spans: tuple[Span, ...]
    contributions: tuple[float, ...] = ()


class RationaleFinder:
    """Labels texts and selects the words that each label depends on.

    >>> finder = RationaleFinder.fit(texts, labels)
    >>> finder.explain("The soup was cold and nobody came.")
    Explanation(label='bad', …, spans=(Span(start=13, end=17, text='cold', …, kind='for'), …))
    """

    def __init__(self, encoder: Encoder, model: RationaleModel) -> None:
        self.encoder = encoder
        self.model = model
        self.gated_encoder = GatedEncoder(encoder, model.gates_at)
        self._selector = model.selector.to(encoder.device)
        self._classifier = model.classifier.to(encoder.device)

    @classmethod
    def load(cls, folder: str | Path, *, device: str | None = None) -> "RationaleFinder":
        """Load a finder from a folder written by `save`."""
        folder = Path(folder)
        model = RationaleModel.read(folder)
        encoder = load_encoder(model.encoder, layer=model.layer, device=device, near=folder.parent)
        return cls(encoder, model.checked_for(encoder.width))

    @classmethod
    def fit(
        cls,
        texts: Sequence[str],
        labels: Sequence[str],
        *,
        encoder: Encoder | str | None = None,
        settings: RationaleSettings | None = None,
        classifier: RationaleModel | None = None,
        likely: Set[str] = frozenset(),
        unlikely: Set[str] = frozenset(),
        progress: ProgressReporter | None = None,
    ) -> "RationaleFinder":
        """Train a finder on texts and their labels.

        encoder: an encoder or its name; by default all-MiniLM-L6-v2
        classifier: a model whose classifier is to be explained, or trained further (mode "joint")
        likely, unlikely: words that are expected in rationales (π = 1), and outside them (π = 0)
        """
        if isinstance(texts, str) or len(texts) != len(labels):
            raise InputError("`texts` must be a sequence of strings, with as many `labels`")
        if encoder is None or isinstance(encoder, str):
            encoder = load_encoder(encoder) if encoder else load_encoder()
        settings = settings or RationaleSettings()
        names, trained = tuple(sorted(set(labels))), None
        if classifier is not None:
            _check_classifier(classifier, encoder, settings, set(labels))
            names = classifier.labels
            trained = deepcopy(classifier.classifier).to(encoder.device)  # may be trained further
        words = [[word.text for word in split_words(text)] for text in texts]
        lists = [WordListPrior(likely, 1.0), WordListPrior(unlikely, 0.0)]
        fitted = fit_rationales(
            words,
            torch.tensor([names.index(label) for label in labels]),
            encoder,
            label_names=names,
            settings=settings,
            classifier=trained,
            prior=first_probability(lists, words) if likely or unlikely else None,
            progress=progress or SilentProgress(),
        )
        learned_from = {
            "texts": len(words),
            "words": sum(map(len, words)),
            "settings": asdict(settings),
            "likely": len(likely),
            "unlikely": len(unlikely),
        }
        return cls(encoder, _model_of(fitted, encoder, names, settings, learned_from))

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that a text may get."""
        return self.model.labels

    def save(self, folder: str | Path) -> None:
        """Write the model to a folder, completely or not at all."""
        self.model.write(Path(folder))

    def explain(
        self, text: str, *, threshold: float | None = None, method: str = RationaleMethod.GATES
    ) -> Explanation:
        """Return the label of a text and its rationale, as `explain_all` does."""
        return next(self.explain_all([text], threshold=threshold, method=method))

    def explain_all(
        self,
        texts: Iterable[str],
        *,
        threshold: float | None = None,
        method: str = RationaleMethod.GATES,
    ) -> Iterator[Explanation]:
        """Yield the explanation of each text; texts are consumed a few at a time.

        method: "gates" selects the words with open gates; "integrated-gradients" selects as many
            words, those that contribute most to the prediction of the classifier or against it
        """
        if isinstance(texts, str):
            raise InputError("`texts` must be several strings; for a single one use `explain`")
        require_choice("method", method, RationaleMethod)
        split = ((text, split_words(text)) for text in texts)
        for group in group_by_words(split, lambda each: len(each[1]), _WORDS_PER_GROUP):
            yield from self._explain_group(group, threshold, method)

    def _explain_group(
        self, group: Sequence[tuple[str, list[Word]]], threshold: float | None, method: str
    ) -> Iterator[Explanation]:
        words = [[word.text for word in each] for _, each in group]
        scores = self.scores(words)
        selected = self.selected(scores, threshold)
        whole, rationale = self.answers(words, selected)
        answers = whole if self.model.mode == "frozen" else rationale
        labels = answers.argmax(-1)
        signed = contributions(self.gated_encoder, self._classifier, words, labels)
        by_gradients = method == RationaleMethod.INTEGRATED_GRADIENTS
        if by_gradients:
            counts = [max(1, int(each.sum())) for each in selected]
            selected = [strongest_words(*each) for each in zip(signed, counts, strict=True)]
            scores = [relative_sizes(each) for each in signed]
            rationale = self.answers(words, selected)[1]
        for i, (text, text_words) in enumerate(group):
            label = int(labels[i])
            values = (selected[i], scores[i], signed[i])
            spans = spans_of(text, text_words, *values, split_directions=by_gradients)
            yield Explanation(
                label=self.labels[label],
                probability=float(answers[i, label]),
                from_rationale=float(rationale[i, label]),
                spans=spans,
                contributions=span_sums(text_words, spans, signed[i]),
            )

    def scores(self, texts: Sequence[Sequence[str]]) -> list[Tensor]:
        """Return P(open) of the words of texts, given as words; for each text (words,)."""
        rows: list[Tensor] = [torch.zeros(0)] * len(texts)
        words_per_batch = _WORDS_PER_BATCH.get(self.encoder.device.type, 2048)
        for indices in batches_by_length(texts, words_per_batch=words_per_batch):
            batch = [texts[i] for i in indices]
            vectors = encode_words(self.encoder, batch)
            opened = open_probabilities(self._selector, vectors, self.encoder.device)
            for i, row in zip(indices, split_by_text(opened, batch), strict=True):
                rows[i] = row
        return rows

    def selected(self, scores: Sequence[Tensor], threshold: float | None = None) -> list[Tensor]:
        """Return which words are in the rationales; for each text (words,)."""
        threshold = self.model.threshold if threshold is None else threshold
        return [row >= threshold for row in scores]

    def answers(
        self, texts: Sequence[Sequence[str]], selected: Sequence[Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Return the probabilities of labels given whole texts, and given the selected words alone.

        Each (texts, labels).
        """
        kept = [each.float() for each in selected]
        return (
            probabilities(self.gated_encoder, self._classifier, texts),
            probabilities(self.gated_encoder, self._classifier, texts, kept),
        )


def _model_of(
    fitted: FittedRationales,
    encoder: Encoder,
    labels: tuple[str, ...],
    settings: RationaleSettings,
    learned_from: dict[str, Any],
) -> RationaleModel:
    """Return a model with the fitted modules and a record of how they were trained."""
    return RationaleModel(
        encoder=encoder.name,
        layer=encoder.layer,
        labels=labels,
        selector=fitted.gates.selector,
        classifier=fitted.gates.classifier,
        mode=settings.mode,
        gates_at=settings.gates_at,
        threshold=OPEN,
        learned_from={
            **learned_from,
            "held_out": asdict(fitted.held_out),
            "steps_chosen": fitted.gates.chosen.step,
            "weights": dict(fitted.gates.chosen.weights),
            "warnings": list(fitted.warnings),
        },
    )


def split_words(text: str) -> list[Word]:
    """Return the words of all sentences of a text; raise InputError if there are none."""
    words = [word for sentence in segment(text) for word in sentence.words]
    if not words:
        raise InputError("a text without words cannot be labelled; leave it out")
    return words


def _check_classifier(
    model: RationaleModel, encoder: Encoder, settings: RationaleSettings, labels: set[str]
) -> None:
    model.checked_for(encoder.width)
    if model.gates_at != settings.gates_at:
        raise InputError(
            f"`gates_at` must be {model.gates_at!r}, as the classifier was trained, "
            f"got {settings.gates_at!r}"
        )
    if unknown := sorted(labels - set(model.labels)):
        raise InputError(
            f"the classifier knows the labels {', '.join(model.labels)}; not {unknown[0]!r}"
        )
