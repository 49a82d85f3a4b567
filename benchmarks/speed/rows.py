"""The rows of the speed benchmark: ways to process the same sentences."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from benchmarks.data import ALL_RESULTS, REPORT, Gold, read_gold
from benchmarks.entities import peers
from thresher.encoders.protocol import WordEncoder
from thresher.entities.built_in import FAST_ENGLISH, MULTILINGUAL, SMALL_ENGLISH
from thresher.entities.evaluation import span_counts
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.decoding import Candidate, decode
from thresher.entities.word_scorer import WORDS_PER_BATCH
from thresher.gates.batching import batches_in_order
from thresher.text.sentences import segment

Sentences = Sequence[Sequence[str]]
RESULTS = ALL_RESULTS / "speed"
_PASSAGE = 20  # sentences per text in the rows on raw text


@dataclass(frozen=True)
class Sample:
    """The first sentences of each report split."""

    sets: list[Gold]

    @classmethod
    def of_report(cls, sentences: int) -> "Sample":
        return cls([each.first(sentences) for each in read_gold(REPORT)])

    @property
    def sentences(self) -> list[list[str]]:
        return [words for each in self.sets for words in each.sentences]

    @property
    def words(self) -> int:
        return sum(map(len, self.sentences))

    def f1(self, find: Callable[[Sentences], list[list[Candidate]]]) -> dict[str, Any]:
        """Return the exact span F1 of each set, cased and lower-cased."""
        return {
            each.name: [
                round(span_counts(form.spans, find(form.sentences), threshold=0).f1, 4)
                for form in (each, each.lowered())
            ]
            for each in self.sets
        }


@dataclass(frozen=True)
class Row:
    """One way to process sentences.

    work: the function that is timed
    about: computes further figures, once and not timed
    """

    work: Callable[[Sentences], object]
    about: Callable[[], dict[str, Any]] = dict


def default(sample: Sample) -> Row:
    finder = EntityFinder.default(device="cpu")
    return _row_with_f1(
        finder,
        sample,
        lambda: {
            "of_bare_encoder": _ratio(finder, run_encoder(finder), sample.sentences),
            "of_word_vectors": _ratio(finder, run_encoder_to_words(finder), sample.sentences),
        },
    )


def _row_with_f1(
    finder: EntityFinder, sample: Sample, about: Callable[[], dict[str, Any]] = dict
) -> Row:
    """Return the row of a finder, with its F1 on the sample."""
    return Row(finder.find_words, lambda: {"f1": sample.f1(finder.find_words)} | about())


def exact(sample: Sample) -> Row:
    return _row_with_f1(EntityFinder.default(device="cpu", exact=True), sample)


def _ratio(finder: EntityFinder, bare: Callable[[Sentences], None], sentences: Sentences) -> float:
    """Return the speed relative to the encoder alone, best of ten alternating runs."""

    def seconds(work: Callable[[Sentences], object]) -> float:
        started = time.process_time()
        work(sentences)
        return time.process_time() - started

    turns = [(seconds(bare), seconds(finder.find_words)) for _ in range(10)]
    return round(min(alone for alone, _ in turns) / min(whole for _, whole in turns), 3)


def small(sample: Sample) -> Row:
    return _row_with_f1(EntityFinder.load(SMALL_ENGLISH, device="cpu"), sample)


def multilingual(sample: Sample) -> Row:
    return _row_with_f1(EntityFinder.load(MULTILINGUAL, device="cpu"), sample)


def distilled(sample: Sample) -> Row:
    finder = EntityFinder.load(FAST_ENGLISH, device="cpu")
    return _row_with_f1(
        finder, sample, lambda: {"shares": _time_fractions(finder, sample.sentences)}
    )


def _time_fractions(finder: EntityFinder, sentences: Sentences) -> dict[str, float]:
    """Return each step's fraction of the total time."""
    seconds = dict.fromkeys(
        ["looking up subwords", "encoder", "selector", "views", "decoding"], 0.0
    )
    clock = [time.process_time()]

    def done(step: str) -> None:
        now = time.process_time()
        seconds[step] += now - clock[0]
        clock[0] = now

    batch_words = WORDS_PER_BATCH["cpu"]
    assert isinstance(finder.encoder, WordEncoder)
    with torch.inference_mode():
        for _ in range(3):
            for indices in batches_in_order(sentences, words_per_batch=batch_words):
                clock[0] = time.process_time()
                batch = finder.encoder.batch([sentences[i] for i in indices])
                done("looking up subwords")
                vectors = finder.encoder.encode_by_word(batch)
                done("encoder")
                finder.model.selector(vectors).prob_open().numpy()
                done("selector")
    gates = finder.gate_scores(sentences)
    not_names = finder.model.not_names
    for _ in range(3):
        clock[0] = time.process_time()
        signals = finder.model.signal_extractor.extract(sentences)
        scores = finder.model.signal_weights.combine(gates, signals)
        done("views")
        list(decode(sentences, scores, not_names=not_names))
        done("decoding")
    total = sum(seconds.values())
    return {step: round(each / total, 3) for step, each in seconds.items()}


def raw_default(sample: Sample) -> Row:
    finder = EntityFinder.default(device="cpu")
    return Row(lambda sentences: list(finder.find_all(_texts(sentences))))


def raw_distilled(sample: Sample) -> Row:
    finder = EntityFinder.load(FAST_ENGLISH, device="cpu")
    return Row(lambda sentences: list(finder.find_all(_texts(sentences))))


def segmentation(sample: Sample) -> Row:
    return Row(lambda sentences: [segment(text) for text in _texts(sentences)])


def encoder(sample: Sample) -> Row:
    return Row(run_encoder(EntityFinder.default(device="cpu")))


def word_vectors(sample: Sample) -> Row:
    return Row(run_encoder_to_words(EntityFinder.default(device="cpu")))


def run_encoder(finder: EntityFinder) -> Callable[[Sentences], None]:
    """Return a function that runs the tokenizer and the encoder on the batches of `find`."""

    def work(sentences: Sentences) -> None:
        with torch.inference_mode():
            for indices in batches_in_order(sentences, words_per_batch=WORDS_PER_BATCH["cpu"]):
                finder.encoder.encode(finder.encoder.batch([sentences[i] for i in indices]))

    return work


def run_encoder_to_words(finder: EntityFinder) -> Callable[[Sentences], None]:
    """Return a function that runs the encoder to word vectors, as `find` does.

    This moves less data through memory than the vectors of all tokens.
    """

    def work(sentences: Sentences) -> None:
        for indices in batches_in_order(sentences, words_per_batch=WORDS_PER_BATCH["cpu"]):
            finder.model.features.encode(finder.encoder, [sentences[i] for i in indices])

    return work


def tokenizer(sample: Sample) -> Row:
    finder = EntityFinder.default(device="cpu")

    def work(sentences: Sentences) -> None:
        for indices in batches_in_order(sentences, words_per_batch=WORDS_PER_BATCH["cpu"]):
            finder.encoder.batch([sentences[i] for i in indices])

    return Row(work)


def spacy(sample: Sample) -> Row:
    return _spacy_row(sample, peers.spacy_pipeline())


def spacy_md(sample: Sample) -> Row:
    return _spacy_row(sample, peers.spacy_pipeline(peers.SPACY_MD))


def _spacy_row(sample: Sample, nlp: Any) -> Row:
    keep = {"tok2vec", "ner"}
    nlp.disable_pipes(*[name for name in nlp.pipe_names if name not in keep])

    def find(sentences: Sentences) -> list[list[Candidate]]:
        docs = nlp.pipe(peers.spacy_docs(nlp, sentences), batch_size=128)
        return [peers.spacy_entities(doc) for doc in docs]

    return Row(find, lambda: {"f1": sample.f1(find)})


def raw_spacy(sample: Sample) -> Row:
    nlp = peers.spacy_pipeline()
    keep = {"tok2vec", "ner"}
    nlp.disable_pipes(*[name for name in nlp.pipe_names if name not in keep])
    return Row(lambda sentences: list(nlp.pipe(_texts(sentences), batch_size=128)))


def yake(sample: Sample) -> Row:
    return Row(peers.yake_phrases, lambda: {"f1": sample.f1(peers.yake_phrases)})


def keybert(sample: Sample) -> Row:
    from thresher.encoders.loading import _packaged_weights  # noqa: PLC0415

    def find(sentences: Sentences) -> list[list[Candidate]]:
        return peers.keybert_phrases(sentences, str(_packaged_weights()))

    return Row(find, lambda: {"f1": sample.f1(find)})


def _texts(sentences: Sentences) -> list[str]:
    joined = [" ".join(words) for words in sentences]
    return [" ".join(joined[i : i + _PASSAGE]) for i in range(0, len(joined), _PASSAGE)]


ROWS: dict[str, Callable[[Sample], Row]] = {
    "default": default,
    "exact default": exact,
    "small": small,
    "distilled": distilled,
    "multilingual": multilingual,
    "word vectors": word_vectors,
    "bare encoder": encoder,
    "bare tokenizer": tokenizer,
    "spaCy": spacy,
    "default on raw text": raw_default,
    "distilled on raw text": raw_distilled,
    "segmentation": segmentation,
    "spaCy on raw text": raw_spacy,
    "YAKE": yake,
    "KeyBERT": keybert,
}
if peers.SPACY_MD.exists():
    ROWS["spaCy md"] = spacy_md
