"""A pipe for spaCy: `nlp.add_pipe("thresher")`, found by entry point.

Entities go to `doc.ents`, or to `doc.spans[spans_key]` where a key is given. Each carries its score
as `span._.thresher_score`. Saved with its pipeline, the pipe carries its model along.
"""

import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import srsly
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup
from spacy.util import filter_spans

from thresher.bulk.finder_choice import ModelChoice
from thresher.entities.finder import EntityFinder
from thresher.errors import InputError
from thresher.text.annotations import Span as Found
from thresher.text.formats.tags import ENTITY_LABEL

SCORE = "thresher_score"

_SETTINGS = {
    "model": None,
    "selector": None,
    "threshold": None,
    "label": ENTITY_LABEL,
    "spans_key": None,
    "overwrite": False,
    "device": None,
}


class ThresherPipe:
    """Finds the entities of documents.

    model: a folder that `thresher fit` made; the built-in English model if there is none
    selector, threshold: the model's own, unless given
    label: what every entity is called
    spans_key: where in `doc.spans` to write; `doc.ents` if there is none
    overwrite: whether entities that are there already give way where both overlap
    """

    def __init__(
        self,
        *,
        model: str | None = None,
        selector: int | None = None,
        threshold: float | None = None,
        label: str = ENTITY_LABEL,
        spans_key: str | None = None,
        overwrite: bool = False,
        device: str | None = None,
    ) -> None:
        if threshold is not None and not 0 <= threshold <= 1:
            raise InputError(f"a threshold lies in [0, 1]; got {threshold}")
        if not Span.has_extension(SCORE):
            Span.set_extension(SCORE, default=None)
        self.model = model
        self.selector = selector
        self.threshold = threshold
        self.label = label
        self.spans_key = spans_key
        self.overwrite = overwrite
        self.device = device
        self._finder: EntityFinder | None = None

    @property
    def finder(self) -> EntityFinder:
        """What finds; loaded when first needed, since a saved pipe brings its own model."""
        if self._finder is None:
            self._finder = self._loaded(self.model)
        return self._finder

    def _loaded(self, model: str | Path | None) -> EntityFinder:
        folder = None if model is None else Path(model)
        return ModelChoice(folder, self.device, self.selector).load()

    def __call__(self, doc: Doc) -> Doc:
        """The document with its entities."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], batch_size: int = 128) -> Iterator[Doc]:
        """The same for many documents, which share batches."""
        documents = iter(stream)
        while batch := list(islice(documents, batch_size)):
            found = self.finder.find_all([doc.text for doc in batch], threshold=self.threshold)
            for doc, entities in zip(batch, found, strict=True):
                self._write(doc, entities)
                yield doc

    def _write(self, doc: Doc, entities: Iterable[Found]) -> None:
        """Entities cover every token that they touch: spaCy may split words elsewhere."""
        spans = filter_spans([self._span(doc, entity) for entity in entities])
        if self.spans_key is not None:
            scores = {"scores": [span._.get(SCORE) for span in spans]}
            doc.spans[self.spans_key] = SpanGroup(
                doc, name=self.spans_key, spans=spans, attrs=scores
            )
            return
        winners, others = (spans, doc.ents) if self.overwrite else (doc.ents, spans)
        taken = {token.i for span in winners for token in span}
        free = [span for span in others if not any(token.i in taken for token in span)]
        doc.ents = sorted([*winners, *free], key=lambda span: span.start)

    def _span(self, doc: Doc, entity: Found) -> Span:
        span = doc.char_span(entity.start, entity.end, label=self.label, alignment_mode="expand")
        assert span is not None  # only other modes of alignment may fail
        span._.set(SCORE, entity.score)
        return span

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model, as `EntityFinder.save` does."""
        self.finder.save(path)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "ThresherPipe":
        """Use the model that `to_disk` wrote, wherever the pipe had it from."""
        self._finder = self._loaded(path)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The files of the model."""
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "model"
            self.to_disk(place)
            files = {file.name: file.read_bytes() for file in place.iterdir()}
        packed: bytes = srsly.msgpack_dumps(files)
        return packed

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "ThresherPipe":
        """Use the model that `to_bytes` gave."""
        with tempfile.TemporaryDirectory() as folder:
            for name, content in srsly.msgpack_loads(data).items():
                (Path(folder) / Path(name).name).write_bytes(content)
            return self.from_disk(folder)


@Language.factory("thresher", default_config=_SETTINGS, assigns=["doc.ents", f"span._.{SCORE}"])
def make_pipe(
    nlp: Language,
    name: str,
    model: str | None,
    selector: int | None,
    threshold: float | None,
    label: str,
    spans_key: str | None,
    overwrite: bool,
    device: str | None,
) -> ThresherPipe:
    """The pipe that `nlp.add_pipe("thresher", config={…})` adds."""
    return ThresherPipe(
        model=model,
        selector=selector,
        threshold=threshold,
        label=label,
        spans_key=spans_key,
        overwrite=overwrite,
        device=device,
    )
