"""EntityFinder: find the entities of texts, and train finders on raw text without labels."""

import logging
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from torch import Tensor

from thresher.deprecation import renamed_arguments, warn_renamed
from thresher.encoders import Encoder, load_encoder
from thresher.encoders.int8_linear import int8_supported
from thresher.encoders.loading import choose_device
from thresher.encoders.protocol import Int8Encoder, LayeredEncoder, LowPrecision
from thresher.entities.built_in import ENGLISH, find_model_folder
from thresher.entities.finding.adaptation import (
    MIN_WORDS,
    Adaptation,
    estimate_adaptation,
    first_words,
)
from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.scored_text import ScoredSentence, ScoredText
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.finding.text_finder import SplitText, TextFinder, refuse_string
from thresher.entities.finding.word_decoding import Links, WordDecoder
from thresher.entities.hub import HubModel
from thresher.entities.kinds.assignment import EncodedWords, KindAssigner
from thresher.entities.kinds.entity_sample import (
    EntitySample,
    collect_sample,
    empty_sample,
    span_bounds,
)
from thresher.entities.kinds.examples import KindExamples, as_examples
from thresher.entities.kinds.kind_model import KindModel
from thresher.entities.kinds.span_vectors import Vectors, span_vectors
from thresher.entities.model import FinderModel
from thresher.entities.readable_scripts import unreadable_text
from thresher.entities.word_scorer import WordScorer
from thresher.errors import InputError
from thresher.gates.batching import sentence_starts
from thresher.gates.word_vectors import UnitIndex
from thresher.hardware_support import one_thread
from thresher.lazy_exports import lazy_exports
from thresher.maths.hard_kumaraswamy import KumaraswamyGate
from thresher.model_folder import config_errors_as_input_errors
from thresher.progress import ProgressReporter, SilentProgress
from thresher.text.indexed_sentences import IndexedSentences
from thresher.text.sentences import segment

if TYPE_CHECKING:
    from thresher.entities.kinds.discovery import DiscoveredKinds
    from thresher.entities.kinds.gates import KindGates
    from thresher.entities.priors.prior_knowledge import PriorKnowledge
    from thresher.entities.training.distillation import DistillationSettings
    from thresher.entities.training.settings import EntitySettings

_LOGGER = logging.getLogger("thresher")
_SENTENCES_PER_GROUP = 2048  # scored at a time by the teacher of a distillation
_KIND_SENTENCES = 4000  # on which a student learns the kinds of its teacher
_MAX_KIND_WORDS = 200_000  # of texts on which kind gates are trained
_CALIBRATION_SENTENCES = 300  # about this many; ten would suffice to measure input ranges

__all__ = ["EntityFinder", "ScoredSentence", "ScoredText"]
__getattr__, _ = lazy_exports(__name__, {}, renamed={"Reading": "ScoredSentence"})


class EntityFinder(TextFinder, HubModel):
    """Finds the entities of texts.

    encoder: turns words into vectors   model: the selectors and everything else that was trained

    >>> finder = EntityFinder.default()
    >>> finder.find("Marie Curie moved to Paris.")
    [Span(start=0, end=11, text='Marie Curie', score=…), Span(start=21, end=26, text='Paris', …)]
    """

    def __init__(self, encoder: Encoder, model: FinderModel) -> None:
        self.encoder = encoder
        self.model = model
        self._words = WordScorer(encoder, model)
        classifier = model.kinds.classifier if model.kinds else None
        self._assigner = KindAssigner(classifier) if classifier else None

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
            finder = cls._load(find_model_folder(folder), device=device, exact=exact)
        _LOGGER.info("loaded %r", finder)
        return finder

    @classmethod
    def _load(cls, folder: Path, *, device: str | None, exact: bool) -> Self:
        model = FinderModel.read(folder)
        if model.static is None:
            layer = None if model.layers else model.layer
            encoder: Encoder = load_encoder(
                model.encoder, layer=layer, device=device, near=folder.parent
            )
            encoder = _with_layers(encoder, model, folder)
        else:
            encoder = model.static.to(choose_device(device))
        model = model.checked_for(encoder)
        if not exact:
            with config_errors_as_input_errors(folder):
                encoder = _in_int8(encoder, model.ranges)
        return cls(encoder, model)

    @classmethod
    @renamed_arguments(beliefs="prior_knowledge")
    def fit(
        cls,
        texts: Iterable[str],
        *,
        encoder: Encoder | str | None = None,
        settings: "EntitySettings | None" = None,
        prior_knowledge: "PriorKnowledge | None" = None,
        progress: ProgressReporter | None = None,
        kinds: KindExamples | Mapping[str, Iterable[str]] | str | Path | None = None,
    ) -> "EntityFinder":
        """Train a finder on raw texts, without labels.

        encoder: an encoder or its name; by default all-MiniLM-L6-v2
        kinds: for each kind some names that are examples of it; each kind gets a gate of its own,
            which finds more entities of this kind
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
    @renamed_arguments(beliefs="prior_knowledge", work="work_dir")
    def fit_words(
        cls,
        sentences: SplitText,
        *,
        encoder: Encoder | str | None = None,
        settings: "EntitySettings | None" = None,
        prior_knowledge: "PriorKnowledge | None" = None,
        progress: ProgressReporter | None = None,
        kinds: KindExamples | Mapping[str, Iterable[str]] | str | Path | None = None,
        work_dir: Path | None = None,
        resume: bool = False,
    ) -> "EntityFinder":
        """Train a finder as `fit` does, on sentences that are already split into words.

        work_dir: a folder for the checkpoints and word vectors from which an interrupted run can
            `resume`; by default a temporary one. Processes that train together must share one
        resume: continue the run that was interrupted in `work_dir`
        """
        # Finding needs none of these modules, and should not wait until they are imported.
        from thresher.entities.priors.prior_knowledge import PriorKnowledge  # noqa: PLC0415
        from thresher.entities.training.fit import build_model, fit_selectors  # noqa: PLC0415
        from thresher.entities.training.settings import EntitySettings  # noqa: PLC0415
        from thresher.gates.distributed import current_processes  # noqa: PLC0415

        if work_dir is None and not current_processes().is_single:
            raise InputError("processes that train together need a common `work_dir`")
        sentences = IndexedSentences.from_sentences(sentences)
        if encoder is None or isinstance(encoder, str):
            encoder = load_encoder(encoder) if encoder else load_encoder()
        ranges = _input_ranges(encoder, sentences)
        encoder = _in_int8(encoder, ranges)
        settings = settings or EntitySettings()
        prior_knowledge = (prior_knowledge or PriorKnowledge()).with_default_priors(
            sentences, common_words=encoder.common_words
        )
        examples = None if kinds is None else as_examples(kinds)
        with tempfile.TemporaryDirectory() as temporary:
            fitted = fit_selectors(
                sentences,
                encoder,
                settings=settings,
                prior_knowledge=prior_knowledge,
                kinds=examples,
                work_dir=work_dir or Path(temporary),
                resume=resume,
                progress=progress or SilentProgress(),
            )
        model = build_model(encoder, fitted, settings, prior_knowledge, sentences, ranges=ranges)
        if examples is None or model.kinds is None:
            return cls(encoder, model)
        from thresher.entities.kinds.training import learn_kinds  # noqa: PLC0415

        classifier = learn_kinds(examples, model.kinds.sample, encoder)
        return cls(encoder, replace(model, kinds=replace(model.kinds, classifier=classifier)))

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
        from thresher.entities.training.distillation import DistillationSettings  # noqa: PLC0415
        from thresher.entities.training.fit import require_enough_words  # noqa: PLC0415
        from thresher.entities.training.student import distill_model  # noqa: PLC0415

        progress = progress or SilentProgress()
        require_enough_words(sentences, progress)
        advance = progress.stage("encoding", len(sentences))
        gates = []
        for low in range(0, len(sentences), _SENTENCES_PER_GROUP):
            group = sentences[low : low + _SENTENCES_PER_GROUP]
            gates += np.split(self.gate_scores(group), sentence_starts(group)[1:-1])
            advance(len(group))
        model = distill_model(
            self.model,
            self.encoder,
            sentences,
            gates,
            settings=settings or DistillationSettings(),
            progress=progress,
        )
        assert model.static is not None
        return EntityFinder(model.static, model).with_kinds_of(self, sentences)

    def with_kinds_of(self, teacher: "EntityFinder", sentences: SplitText) -> "EntityFinder":
        """Return a finder that predicts the kinds of another one, taught on raw sentences.

        The entities of the sentences are also its sample, from which other kinds can be learned.
        """
        from thresher.entities.kinds.distillation import distill_kinds  # noqa: PLC0415

        some = sentences[:: -(-len(sentences) // _KIND_SENTENCES) or 1]
        encoded = teacher._words.encode(some)
        scored = teacher.score_encoded(some, encoded)
        found = [each.found(teacher.threshold) for each in scored]
        vectors = self._words.encode(some).vectors
        sample = collect_sample(some, found, vectors, UnitIndex.of_words(some))
        classifier = teacher.model.kinds.classifier if teacher.model.kinds else None
        if classifier is not None and len(sample):
            bounds = span_bounds(some, found)
            taught, learned = (span_vectors(v, *bounds) for v in (encoded.vectors, vectors))
            classifier = distill_kinds(classifier, taught, learned)
        return self._with(KindModel(sample, classifier if len(sample) else None))

    def with_selector(self, number: int) -> "EntityFinder":
        """Return a finder that uses another selector of the same model, counted from 1."""
        return self._with_model(self.model.with_selector(number))

    def with_kinds(
        self,
        kinds: KindExamples | Mapping[str, Iterable[str]] | str | Path | None,
        *,
        texts: Iterable[str] | None = None,
        seed: int = 0,
    ) -> "EntityFinder":
        """Return a finder that also says of which kind each entity is.

        kinds: for each kind some names that are examples of it, or the path of a TOML or JSON file
            with such lists; None for a finder without kinds
        texts: raw texts in which such names occur. Each kind then gets a gate of its own, which
            finds more entities of this kind, as in `fit`; and the entities of these texts show in
            which contexts such names occur. By default a sample of the training text does
        seed: of the gates

        >>> finder.with_kinds({"drug": ["aspirin", "ibuprofen"], "disease": ["asthma", "flu"]})
        """
        sample = self.model.kinds.sample if self.model.kinds else empty_sample(self.encoder.width)
        if kinds is None:
            return self._with(KindModel(sample))
        from thresher.entities.kinds.training import learn_kinds  # noqa: PLC0415

        examples, gates = as_examples(kinds), None
        if texts is not None:
            sentences = _split(refuse_string(texts, "texts", "[text]"))
            gates = self._fit_gates(sentences, examples, seed)
            sample = self._with(KindModel(sample, gates=gates)).entity_sample(sentences)
        return self._with(KindModel(sample, learn_kinds(examples, sample, self.encoder), gates))

    def _with(self, kinds: KindModel) -> "EntityFinder":
        return self._with_model(replace(self.model, kinds=kinds))

    def _with_model(self, model: FinderModel) -> "EntityFinder":
        """Return a finder with the same encoder and the same rules of the user."""
        finder = EntityFinder(self.encoder, model)
        finder.rules = self.rules
        return finder

    def _fit_gates(self, sentences: SplitText, examples: KindExamples, seed: int) -> "KindGates":
        from thresher.entities.training.kinds import fit_gates  # noqa: PLC0415

        some = sentences[:: -(-sum(map(len, sentences)) // _MAX_KIND_WORDS) or 1]
        groups = [
            some[low : low + _SENTENCES_PER_GROUP]
            for low in range(0, len(some), _SENTENCES_PER_GROUP)
        ]
        if not groups:
            raise InputError("`texts` have no words")
        vectors = np.concatenate([self._words.encode(group).vectors for group in groups])
        return fit_gates(
            some,
            vectors,
            self.model.signal_extractor.extract(some).possible,
            examples,
            device=self.encoder.device,
            seed=seed,
            progress=SilentProgress(),
        )

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

    def entity_sample(self, sentences: SplitText) -> EntitySample:
        """Return a sample of the entities of sentences, with the vectors of their contexts."""
        samples = []
        for low in range(0, len(sentences), _SENTENCES_PER_GROUP):
            group = sentences[low : low + _SENTENCES_PER_GROUP]
            encoded = self._words.encode(group)
            scored = self.score_encoded(group, encoded)
            found = [each.found(self.threshold) for each in scored]
            units = UnitIndex.of_words(group)
            samples.append(collect_sample(group, found, encoded.vectors, units))
        return EntitySample.merged(samples or [empty_sample(self.encoder.width)])

    def assign_kinds(
        self, sentences: SplitText, spans: Sequence[Sequence[Candidate]]
    ) -> list[list[Candidate]]:
        """Return spans of one text with their kinds; the spans may come from any source.

        spans: of each sentence, in words
        """
        if self._assigner is None:
            raise InputError("this finder has no kinds; give it some with `with_kinds`")
        return self._assigner.assign([sentences], spans, self._words.encode(sentences))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that spans can have; empty if the finder knows none."""
        return self.model.kinds.kinds if self.model.kinds else ()

    def adapted_to(self, texts: Iterable[str]) -> "EntityFinder":
        """Return a finder with signal weights and a threshold for these texts, without labels.

        They are estimated from the first 50,000 words; from fewer than 2,000, nothing is changed.
        What the finder finds in a text then also depends on the other texts.
        """
        texts = refuse_string(texts, "texts", "adapted_to([text])")
        return self.adapted_to_words([each.texts for each in segment(text)] for text in texts)

    def adapted_to_words(self, texts: Iterable[SplitText]) -> "EntityFinder":
        """Adapt as `adapted_to` does, to texts that are already split into words."""
        adaptation = self.estimate_adaptation(texts)
        return self if adaptation is None else self.with_adaptation(adaptation)

    def estimate_adaptation(self, texts: Iterable[SplitText]) -> Adaptation | None:
        """Estimate signal weights and threshold for texts split into words; None if too short."""
        split = list(first_words(texts))
        sentences = list(chain.from_iterable(split))
        if sum(map(len, sentences)) < MIN_WORDS:
            return None
        return estimate_adaptation(
            self.model, self.gate_scores(sentences), split, common_words=self.encoder.common_words
        )

    def with_adaptation(self, adaptation: Adaptation) -> "EntityFinder":
        """Return this finder with the signal weights and the threshold of an adaptation."""
        return self._with_model(self.model.with_adaptation(adaptation))

    @property
    def threshold(self) -> float:
        """The smallest score of a candidate that counts as an entity."""
        return self.model.threshold

    @property
    def precision(self) -> str:
        """What the encoder computes in: "int8", "float16" or "float32"."""
        return self.encoder.precision if isinstance(self.encoder, LowPrecision) else "float32"

    @property
    def lacks_int8(self) -> bool:
        """True if the model can run in int8 on a CPU, but this CPU cannot."""
        on_cpu = self.encoder.device.type == "cpu"
        return bool(self.model.ranges) and on_cpu and not int8_supported()

    def unreadable(self, text: str) -> str | None:
        """Return why the model cannot read a text, and which model can; None if it can."""
        return unreadable_text(text, self.model.scripts)

    def save(self, folder: str | Path) -> None:
        """Save the model as a folder, atomically."""
        self.model.write(Path(folder))

    def gates(self, sentences: SplitText) -> KumaraswamyGate:
        """Return the gate of every word, or of every subword if the model has a gate for each.

        `gates(…).sample(generator=…)` is a random mask.
        """
        return self._words.gates(sentences)

    def gate_scores(self, sentences: SplitText) -> Scores:
        """Return P(open) of every word, with gates per subword the largest of a word: (words,)."""
        return self._words.gate_scores(sentences)

    def encode(self, sentences: SplitText) -> EncodedWords:
        """Return vectors and gate scores of words; those of a sentence depend on no other one.

        Parts of a long text can be encoded one after the other and combined for `score_encoded`.
        """
        if self._assigner is not None:
            return self._words.encode(sentences)
        gate_scores, links = self._words.gates_and_links(sentences)
        return EncodedWords(gate_scores, np.zeros((len(gate_scores), 0), np.float32), links=links)

    def score_encoded(self, sentences: SplitText, encoded: EncodedWords) -> list[ScoredSentence]:
        """Return the scored sentences of one text, given `encode(sentences)`."""
        return self._score_encoded([sentences], encoded)

    def score_gates(
        self, sentences: SplitText, gate_scores: Scores, links: Links | None = None
    ) -> list[ScoredSentence]:
        """Return the scored sentences, without kinds, given the gates of their words.

        gate_scores: from `gate_scores`   links: log-odds of the link gate, if there is one
        """
        return self._score_gates([sentences], sentences, gate_scores, links)

    def _score(self, texts: Sequence[SplitText]) -> list[ScoredSentence]:
        return self._score_encoded(texts, self.encode(list(chain.from_iterable(texts))))

    def _score_encoded(
        self, texts: Sequence[SplitText], encoded: EncodedWords
    ) -> list[ScoredSentence]:
        sentences = list(chain.from_iterable(texts))
        scored = self._score_gates(
            texts, sentences, encoded.gate_scores, encoded.links, encoded.kind_scores
        )
        if self._assigner is None:
            return scored
        candidates = [each.candidates for each in scored]
        with_kinds = self._assigner.assign(texts, candidates, encoded)
        return [replace(each, candidates=own) for each, own in zip(scored, with_kinds, strict=True)]

    def _score_gates(
        self,
        texts: Sequence[SplitText],
        sentences: SplitText,
        gate_scores: Scores,
        links: Links | None,
        kind_scores: Vectors | None = None,
    ) -> list[ScoredSentence]:
        """Combine gates with the other signals and decode; `sentences` are those of all texts."""
        if not sentences:
            return []
        model = self.model
        signals = model.signal_extractor.extract_texts(texts)
        least = None if kind_scores is None else kind_scores.max(axis=1)
        decoder = WordDecoder(
            model.signal_weights, model.not_names, model.span_model, model.min_word_score
        )
        scores = decoder.word_scores(gate_scores, signals, least)
        bounds = pairwise(sentence_starts(sentences).tolist())
        decoded = decoder.candidates(sentences, gate_scores, signals, links, least)
        return [
            ScoredSentence(words, scores[start:end], candidates)
            for words, (start, end), candidates in zip(sentences, bounds, decoded, strict=True)
        ]

    def readings(self, sentences: SplitText, gates: Sequence[Scores]) -> list[ScoredSentence]:
        """Return `score_gates(sentences, np.concatenate(gates))`; deprecated."""
        warn_renamed("readings", "score_gates, which takes one array")
        return self.score_gates(sentences, np.concatenate([np.zeros(0, np.float32), *gates]))


def _split(texts: Iterable[str]) -> IndexedSentences:
    return IndexedSentences.from_sentences(each.texts for text in texts for each in segment(text))


def _with_layers(encoder: Encoder, model: FinderModel, folder: Path) -> Encoder:
    """Return the encoder with the layers that are saved with the model, if there are any."""
    if not model.layers:
        return encoder
    with config_errors_as_input_errors(folder):
        if not isinstance(encoder, LayeredEncoder):
            raise InputError(f"the layers of {model.encoder} cannot be replaced")
        return encoder.with_layers(model.layers)


def _input_ranges(encoder: Encoder, sentences: SplitText) -> dict[str, Tensor]:
    """Return the input ranges of the encoder's layers on some sentences, if it supports int8."""
    if not isinstance(encoder, Int8Encoder):
        return {}
    return encoder.input_ranges(sentences[:: max(1, len(sentences) // _CALIBRATION_SENTENCES)])


def _in_int8(encoder: Encoder, ranges: Mapping[str, Tensor]) -> Encoder:
    """Return the encoder in int8 if its ranges are known and the CPU supports it."""
    if not ranges or encoder.device.type != "cpu" or not int8_supported():
        return encoder
    return encoder.to_int8(ranges) if isinstance(encoder, Int8Encoder) else encoder
