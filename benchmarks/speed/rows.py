"""The rows of the speed benchmark: each a way to go through the same sentences."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from benchmarks.data import ALL_RESULTS, REPORT, Gold, read_gold
from benchmarks.entities import peers
from thresher.encoders.protocol import WordEncoder
from thresher.entities.built_in import FAST_ENGLISH
from thresher.entities.evaluation import span_counts
from thresher.entities.finder import WORDS_PER_BATCH, EntityFinder
from thresher.entities.finding.decoding import Candidate, decode
from thresher.gates.word_vectors import batches_in_order
from thresher.text.sentences import segment

Sentences = Sequence[Sequence[str]]
RESULTS = ALL_RESULTS / "speed"
_PASSAGE = 20  # sentences of a text, where text is read that is not split


@dataclass(frozen=True)
class Sample:
    """The first sentences of each report split."""

    sets: list[Gold]

    @classmethod
    def of_report(cls, sentences: int) -> "Sample":
        return cls(
            [
                Gold(each.name, each.sentences[:sentences], each.spans[:sentences])
                for each in read_gold(REPORT)
            ]
        )

    @property
    def sentences(self) -> list[list[str]]:
        return [words for each in self.sets for words in each.sentences]

    @property
    def words(self) -> int:
        return sum(map(len, self.sentences))

    def f1(self, find: Callable[[Sentences], list[list[Candidate]]]) -> dict[str, Any]:
        """Exact span F1 of each set, as given and lower-cased."""
        return {
            each.name: [
                round(span_counts(form.spans, find(form.sentences), threshold=0).f1, 4)
                for form in (each, each.lowered())
            ]
            for each in self.sets
        }


@dataclass(frozen=True)
class Row:
    """work: what is timed   about: figures beside it, computed once and not timed"""

    work: Callable[[Sentences], object]
    about: Callable[[], dict[str, Any]] = dict


def default(sample: Sample) -> Row:
    finder = EntityFinder.default(device="cpu")
    whole = Sample(read_gold(REPORT))
    return Row(
        finder.find_words,
        lambda: {
            "f1": sample.f1(finder.find_words),
            "f1_of_all": whole.f1(finder.find_words),
            "of_bare_encoder": _ratio(finder, encoder_work(finder), sample.sentences),
            "of_word_vectors": _ratio(finder, word_vector_work(finder), sample.sentences),
        },
    )


def exact(sample: Sample) -> Row:
    finder = EntityFinder.default(device="cpu", exact=True)
    return Row(finder.find_words, lambda: {"f1": sample.f1(finder.find_words)})


def _ratio(finder: EntityFinder, bare: Callable[[Sentences], None], sentences: Sentences) -> float:
    """The finder's speed over that of its encoder alone, of either the best of ten, in turn."""

    def seconds(work: Callable[[Sentences], object]) -> float:
        started = time.process_time()
        work(sentences)
        return time.process_time() - started

    turns = [(seconds(bare), seconds(finder.find_words)) for _ in range(10)]
    return round(min(alone for alone, _ in turns) / min(whole for _, whole in turns), 3)


def distilled(sample: Sample) -> Row:
    finder = EntityFinder.load(FAST_ENGLISH, device="cpu")
    whole = Sample(read_gold(REPORT))
    return Row(
        finder.find_words,
        lambda: {
            "f1": sample.f1(finder.find_words),
            "f1_of_all": whole.f1(finder.find_words),
            "shares": _shares(finder, sample.sentences),
        },
    )


def _shares(finder: EntityFinder, sentences: Sentences) -> dict[str, float]:
    """Where the time goes: of each step, its share of the sum of all."""
    taken = dict.fromkeys(["looking up subwords", "encoder", "selector", "views", "decoding"], 0.0)
    clock = [time.process_time()]

    def done(step: str) -> None:
        now = time.process_time()
        taken[step] += now - clock[0]
        clock[0] = now

    most = WORDS_PER_BATCH["cpu"]
    assert isinstance(finder.encoder, WordEncoder)
    with torch.inference_mode():
        for _ in range(3):
            for indices in batches_in_order(sentences, words_per_batch=most):
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
        seen = finder.model.signal_extractor.extract(sentences)
        scores = finder.model.signal_weights.combine(gates, seen)
        done("views")
        list(decode(sentences, scores, not_names=not_names))
        done("decoding")
    whole = sum(taken.values())
    return {step: round(seconds / whole, 3) for step, seconds in taken.items()}


def raw_default(sample: Sample) -> Row:
    finder = EntityFinder.default(device="cpu")
    return Row(lambda sentences: list(finder.find_all(_texts(sentences))))


def raw_distilled(sample: Sample) -> Row:
    finder = EntityFinder.load(FAST_ENGLISH, device="cpu")
    return Row(lambda sentences: list(finder.find_all(_texts(sentences))))


def segmentation(sample: Sample) -> Row:
    return Row(lambda sentences: [segment(text) for text in _texts(sentences)])


def encoder(sample: Sample) -> Row:
    return Row(encoder_work(EntityFinder.default(device="cpu")))


def encoder_work(finder: EntityFinder) -> Callable[[Sentences], None]:
    """Tokenizer and encoder on the finder's own batches, and nothing else."""

    def work(sentences: Sentences) -> None:
        with torch.inference_mode():
            for indices in batches_in_order(sentences, words_per_batch=WORDS_PER_BATCH["cpu"]):
                finder.encoder.encode(finder.encoder.batch([sentences[i] for i in indices]))

    return work


def word_vector_work(finder: EntityFinder) -> Callable[[Sentences], None]:
    """The same to vectors of words, as finding reads them: less goes through memory."""

    def work(sentences: Sentences) -> None:
        for indices in batches_in_order(sentences, words_per_batch=WORDS_PER_BATCH["cpu"]):
            finder.model.features.read(finder.encoder, [sentences[i] for i in indices])

    return work


def tokenizer(sample: Sample) -> Row:
    finder = EntityFinder.default(device="cpu")

    def work(sentences: Sentences) -> None:
        for indices in batches_in_order(sentences, words_per_batch=WORDS_PER_BATCH["cpu"]):
            finder.encoder.batch([sentences[i] for i in indices])

    return Row(work)


def spacy(sample: Sample) -> Row:
    nlp = peers.spacy_pipeline()
    keep = {"tok2vec", "ner"}
    nlp.disable_pipes(*[name for name in nlp.pipe_names if name not in keep])

    def find(sentences: Sentences) -> list[list[Candidate]]:
        docs = nlp.pipe(peers._docs(nlp, sentences), batch_size=128)
        return [peers._entities(doc, None) for doc in docs]

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
    "distilled": distilled,
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
