"""A spaCy pipeline component: `nlp.add_pipe("thresher")`, registered by entry point.

Entities are added to `doc.ents`, or to `doc.spans[spans_key]` if a key is given. The score of each
is `span._.thresher_score`, and that of its kind `span._.thresher_kind_score`. A saved pipeline
contains the model.
"""

import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import srsly
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup
from spacy.util import filter_spans

from thresher.bulk.finder_choice import FinderChoice
from thresher.entities.finder import EntityFinder
from thresher.text.annotations import Span as Entity
from thresher.text.formats.tags import ENTITY_LABEL
from thresher.validation import require_number

SCORE = "thresher_score"
KIND_SCORE = "thresher_kind_score"

_DEFAULT_CONFIG = {
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

    model: a folder written by `thresher fit`; None for the built-in English model
    selector, threshold: None for the model's own
    label: the label of entities without a kind; the others are labelled with their kind
    spans_key: the key in `doc.spans` to write to; None for `doc.ents`
    overwrite: replace existing entities that overlap with the new ones
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
        if threshold is not None:
            require_number("threshold", threshold, at_least=0, at_most=1)
        for name in (SCORE, KIND_SCORE):
            if not Span.has_extension(name):
                Span.set_extension(name, default=None)
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
        """The finder, loaded on first use because a saved pipeline brings its own model."""
        if self._finder is None:
            self._finder = self._load(self.model)
        return self._finder

    def _load(self, model: str | Path | None) -> EntityFinder:
        folder = None if model is None else Path(model)
        return FinderChoice(folder, self.device, self.selector).load_entity_finder()

    def __call__(self, doc: Doc) -> Doc:
        """Add the entities of a document and return it."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], batch_size: int = 128) -> Iterator[Doc]:
        """Add the entities of many documents, processed in batches."""
        documents = iter(stream)
        while batch := list(islice(documents, batch_size)):
            found = self.finder.find_all([doc.text for doc in batch], threshold=self.threshold)
            for doc, entities in zip(batch, found, strict=True):
                self._add(doc, entities)
                yield doc

    def _add(self, doc: Doc, entities: Iterable[Entity]) -> None:
        spans = filter_spans([self._span(doc, entity) for entity in entities])
        if self.spans_key is not None:
            scores = {"scores": [span._.get(SCORE) for span in spans]}
            doc.spans[self.spans_key] = SpanGroup(
                doc, name=self.spans_key, spans=spans, attrs=scores
            )
            return
        kept, others = (spans, doc.ents) if self.overwrite else (doc.ents, spans)
        taken = {token.i for span in kept for token in span}
        free = [span for span in others if not any(token.i in taken for token in span)]
        doc.ents = sorted([*kept, *free], key=lambda span: span.start)

    def _span(self, doc: Doc, entity: Entity) -> Span:
        """Return all tokens that the entity touches; spaCy may split words elsewhere."""
        label = entity.kind or self.label
        span = doc.char_span(entity.start, entity.end, label=label, alignment_mode="expand")
        assert span is not None  # only other alignment modes return None
        span._.set(SCORE, entity.score)
        span._.set(KIND_SCORE, entity.kind_score)
        return span

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the model like `EntityFinder.save`."""
        self.finder.save(path)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "ThresherPipe":
        """Load a model saved by `to_disk`, whatever model the pipe was configured with."""
        self._finder = self._load(path)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the files of the model, packed."""
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "model"
            self.to_disk(folder)
            files = {file.name: file.read_bytes() for file in folder.iterdir()}
        packed: bytes = srsly.msgpack_dumps(files)
        return packed

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "ThresherPipe":
        """Load a model packed by `to_bytes`."""
        with tempfile.TemporaryDirectory() as folder:
            for name, content in srsly.msgpack_loads(data).items():
                (Path(folder) / Path(name).name).write_bytes(content)
            return self.from_disk(folder)


@Language.factory(
    "thresher",
    default_config=_DEFAULT_CONFIG,
    assigns=["doc.ents", f"span._.{SCORE}", f"span._.{KIND_SCORE}"],
)
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
    """Return the pipe for `nlp.add_pipe("thresher", config={…})`."""
    return ThresherPipe(
        model=model,
        selector=selector,
        threshold=threshold,
        label=label,
        spans_key=spans_key,
        overwrite=overwrite,
        device=device,
    )
