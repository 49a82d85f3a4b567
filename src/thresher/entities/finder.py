"""EntityFinder: find the entities of texts, and train finders on raw text without labels."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Self

from thresher.encoders import Encoder
from thresher.entities.built_in import ENGLISH, find_model_folder
from thresher.entities.finding.adaptation import (
    MAX_CASE_WORDS,
    MIN_WORDS,
    Adaptation,
    estimate_adaptation,
    first_words,
)
from thresher.entities.finding.scored_text import ScoredSentence, ScoredText
from thresher.entities.finding.text_finder import SplitText, refuse_string, split_into_words
from thresher.entities.hub import HubModel
from thresher.entities.kinds.examples import KindExamples, as_examples
from thresher.entities.kinds.kind_model import KindModel
from thresher.entities.loading import load_with_encoder
from thresher.entities.model import FinderModel
from thresher.entities.model_finder import ModelFinder
from thresher.hardware_support import one_thread
from thresher.progress import ProgressReporter, SilentProgress
from thresher.text.indexed_sentences import IndexedSentences

# Modules that only training needs are imported where they are used: finding should not wait for
# them.
if TYPE_CHECKING:
    from thresher.entities.kinds.discovery import DiscoveredKinds
    from thresher.entities.priors.prior_knowledge import PriorKnowledge
    from thresher.entities.training.distillation import DistillationSettings
    from thresher.entities.training.settings import EntitySettings

_LOGGER = logging.getLogger("thresher")

Kinds = KindExamples | Mapping[str, Iterable[str]] | str | Path
"""Example names of each kind, or the path of a file with them."""

__all__ = ["EntityFinder", "ScoredSentence", "ScoredText"]


class EntityFinder(ModelFinder, HubModel):
    """Finds the entities of texts.

    encoder: turns words into vectors   model: the selectors and everything else that was trained

    >>> finder = EntityFinder.default()
    >>> finder.find("Marie Curie moved to Paris.")
    [Span(start=0, end=11, text='Marie Curie', score=…), Span(start=21, end=26, text='Paris', …)]
    """

    def __repr__(self) -> str:
        kinds = f", kinds: {', '.join(self.kinds)}" if self.kinds else ""
        return f"<EntityFinder with {self.model.encoder}, threshold {self.threshold:.2f}{kinds}>"

    @classmethod
    def default(cls, *, device: str | None = None, exact: bool = False) -> Self:
        """Load the built-in English model."""
        return cls.load(ENGLISH, device=device, exact=exact)

    @classmethod
    def load(cls, folder: str | Path, *, device: str | None = None, exact: bool = False) -> Self:
        """Load a finder from a folder that `save` wrote, or a built-in one by its name.

        device: "cpu", "cuda" or "cuda:1", for example; by default a GPU if there is one
        exact: compute in single precision, even if the model and the CPU support int8
        """
        with one_thread():
            encoder, model = load_with_encoder(
                find_model_folder(folder), device=device, exact=exact
            )
            finder = cls(encoder, model)
        _LOGGER.info("loaded %r", finder)
        return finder

    @classmethod
    def fit(
        cls,
        texts: Iterable[str],
        *,
        encoder: Encoder | str | Sequence[Encoder | str] | None = None,
        settings: "EntitySettings | None" = None,
        prior_knowledge: "PriorKnowledge | None" = None,
        progress: ProgressReporter | None = None,
        kinds: Kinds | None = None,
    ) -> "EntityFinder":
        """Train a finder on raw texts, without labels.

        encoder: an encoder or its name; by default all-MiniLM-L6-v2. If several are given, the one
            whose gates best predict the capitals of held-out text is used
        kinds: example names of each kind; each kind gets a gate of its own, which finds more
            entities of this kind
        """
        return cls.fit_words(
            _split(refuse_string(texts, "texts", "fit([text])")),
            encoder=encoder,
            settings=settings,
            prior_knowledge=prior_knowledge,
            progress=progress,
            kinds=kinds,
        )

    @classmethod
    def fit_words(
        cls,
        sentences: SplitText,
        *,
        encoder: Encoder | str | Sequence[Encoder | str] | None = None,
        settings: "EntitySettings | None" = None,
        prior_knowledge: "PriorKnowledge | None" = None,
        progress: ProgressReporter | None = None,
        kinds: Kinds | None = None,
        work_dir: Path | None = None,
        resume: bool = False,
    ) -> "EntityFinder":
        """Train a finder as `fit` does, on sentences that are already split into words.

        work_dir: a folder for the checkpoints and word vectors from which an interrupted run can
            `resume`; by default a temporary one. Processes that train together must share one
        resume: continue the run that was interrupted in `work_dir`
        """
        from thresher.entities.training.fit_finder import fit_finder  # noqa: PLC0415

        encoder, model = fit_finder(
            sentences,
            encoder=encoder,
            settings=settings,
            prior_knowledge=prior_knowledge,
            progress=progress,
            kinds=None if kinds is None else as_examples(kinds),
            work_dir=work_dir,
            resume=resume,
        )
        return cls(encoder, model)

    def distill(
        self,
        texts: Iterable[str],
        *,
        settings: "DistillationSettings | None" = None,
        progress: ProgressReporter | None = None,
    ) -> "EntityFinder":
        """Train a student on raw texts: a many times faster finder without a transformer.

        The student is trained to predict the gates of this finder.
        """
        sentences = _split(refuse_string(texts, "texts", "distill([text])"))
        return self.distill_words(sentences, settings=settings, progress=progress)

    def distill_words(
        self,
        sentences: SplitText,
        *,
        settings: "DistillationSettings | None" = None,
        progress: ProgressReporter | None = None,
    ) -> "EntityFinder":
        """Train a student as `distill` does, on sentences that are already split into words."""
        from thresher.entities.training.student import distill_finder  # noqa: PLC0415

        encoder, model = distill_finder(
            self.word_scorer, sentences, settings=settings, progress=progress or SilentProgress()
        )
        return EntityFinder(encoder, model).with_kinds_of(self, sentences)

    def with_kinds_of(self, teacher: "EntityFinder", sentences: SplitText) -> "EntityFinder":
        """Return a finder that was trained on raw sentences to predict the kinds of another one.

        The entities of the sentences are also its sample, from which other kinds can be learned.
        """
        from thresher.entities.training.kinds import kinds_of_teacher  # noqa: PLC0415

        return self._with_kinds(kinds_of_teacher(self, teacher, sentences))

    def with_selector(self, number: int) -> "EntityFinder":
        """Return a finder that uses another selector of the same model, counted from 1."""
        return self._with_model(self.model.with_selector(number))

    def with_dates(self) -> "EntityFinder":
        """Return a finder that also finds dates; InputError if the model cannot find them."""
        return self._with_model(self.model.with_dates())

    def with_kinds(
        self, kinds: Kinds | None, *, texts: Iterable[str] | None = None, seed: int = 0
    ) -> "EntityFinder":
        """Return a finder that also assigns a kind to each entity.

        kinds: example names of each kind, or the path of a TOML or JSON file with such lists; None
            for a finder without kinds
        texts: raw texts in which such names occur. Each kind then gets a gate of its own, which
            finds more entities of this kind, as in `fit`; and these texts show in which contexts
            such names occur, instead of a sample of the training text
        seed: the random seed of the gates

        >>> finder.with_kinds({"drug": ["aspirin", "ibuprofen"], "disease": ["asthma", "flu"]})
        """
        if kinds is None:
            return self._with_model(self.model.without_kinds())
        from thresher.entities.training.kinds import kinds_from_examples  # noqa: PLC0415

        sentences = None if texts is None else _split(refuse_string(texts, "texts", "[text]"))
        examples = as_examples(kinds)
        return self._with_kinds(kinds_from_examples(self, examples, sentences, seed=seed))

    def _with_kinds(self, kinds: KindModel) -> "EntityFinder":
        return self._with_model(replace(self.model, kinds=kinds))

    def _with_model(self, model: FinderModel) -> "EntityFinder":
        """Return a finder with the same encoder and the same rules of the user."""
        finder = EntityFinder(self.encoder, model)
        finder.rules = self.rules
        return finder

    def discover_kinds(
        self, texts: Iterable[str], *, groups: int | None = None
    ) -> "DiscoveredKinds":
        """Group the entities of texts, and name the groups.

        groups: their number; by default the one whose groups are best separated

        >>> kinds = finder.discover_kinds(texts).examples()
        >>> finder.with_kinds(kinds)
        """
        sentences = _split(refuse_string(texts, "texts", "[text]"))
        return self.discover_kinds_words(sentences, groups=groups)

    def discover_kinds_words(
        self, sentences: SplitText, *, groups: int | None = None
    ) -> "DiscoveredKinds":
        """Discover kinds as `discover_kinds` does, in sentences already split into words."""
        from thresher.entities.kinds.discovery import discover_kinds  # noqa: PLC0415

        return discover_kinds(self.encoder, self.entity_sample(sentences), groups=groups)

    def adapted_to(self, texts: Iterable[str], *, background: Iterable[str] = ()) -> "EntityFinder":
        """Return a finder with signal weights and a threshold for these texts, without labels.

        They are estimated from the first 50,000 words; from fewer than 2,000, nothing is changed.
        What the finder finds in a text then also depends on the other texts.

        background: more text in the same language, of which 50,000 words are used, too, and the
            case of a million words
        """
        texts = refuse_string(texts, "texts", "adapted_to([text])")
        background = refuse_string(background, "background", "[text]")
        adaptation = self.estimate_adaptation(
            split_into_words(texts), background=split_into_words(background)
        )
        return self if adaptation is None else self.with_adaptation(adaptation)

    def adapted_to_words(self, texts: Iterable[SplitText]) -> "EntityFinder":
        """Adapt as `adapted_to` does, to texts that are already split into words."""
        adaptation = self.estimate_adaptation(texts)
        return self if adaptation is None else self.with_adaptation(adaptation)

    def estimate_adaptation(
        self, texts: Iterable[SplitText], *, background: Iterable[SplitText] = ()
    ) -> Adaptation | None:
        """Estimate signal weights and threshold for texts split into words; None if too short.

        background: as in `adapted_to`
        """
        own, further = list(first_words(texts)), list(first_words(background, MAX_CASE_WORDS))
        split = [*own, *first_words(further)]
        sentences = list(chain.from_iterable(split))
        if sum(map(len, sentences)) < MIN_WORDS:
            return None
        names, date_gates = self.model.names_alone, None
        finder = self if names is None else self._with_model(names)
        if names is not None:
            date_gates = self.word_scorer.gate_scores(sentences)
        gate_scores, links = finder.word_scorer.gates_and_links(sentences)
        return estimate_adaptation(
            finder.model,
            gate_scores,
            split,
            case_texts=[*own, *further],
            common_words=self.encoder.common_words,
            links=links,
            date_gates=date_gates,
        )

    def with_adaptation(self, adaptation: Adaptation) -> "EntityFinder":
        """Return this finder with the signal weights and the threshold of an adaptation."""
        return self._with_model(self.model.with_adaptation(adaptation))

    def save(self, folder: str | Path) -> None:
        """Save the model as a folder, atomically."""
        self.model.write(Path(folder))


def _split(texts: Iterable[str]) -> IndexedSentences:
    return IndexedSentences.from_sentences(chain.from_iterable(split_into_words(texts)))
