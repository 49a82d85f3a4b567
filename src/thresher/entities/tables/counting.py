"""A table of the entities of a corpus: who and what is named, how often, and where.

Documents are added one after the other. Memory is bounded: if there are more than `max_entities`
names, the rarest are forgotten.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import tee
from typing import TYPE_CHECKING, Any

from thresher.entities.choices import CoMentionScope
from thresher.entities.finding.kind_filter import checked_filter
from thresher.entities.finding.scored_text import Mention
from thresher.entities.tables.co_mentions import CoMentionCounts, CoMentions
from thresher.entities.tables.names import NameInDocument, full_names, name_key
from thresher.text.document import Document
from thresher.validation import require_choice, require_number

if TYPE_CHECKING:
    from thresher.entities.finding.text_finder import TextFinder

MAX_ENTITIES = 200_000
_MAX_SPELLINGS = 50  # of an entity that are counted
_MAX_NAMES_PER_DOCUMENT = 20_000  # then its names are added to the table before its end
_MAX_CO_MENTIONED = 100  # names of a document that are mentioned together
_MAX_EXAMPLE = 240  # characters of an example sentence


@dataclass(frozen=True)
class EntityRow:
    """An entity of a corpus.

    entity: its most frequent full spelling   kind: the most frequent kind of its mentions
    mentions, documents: the numbers of mentions, and of documents with at least one
    first_mention: the file and line of the first mention, "notes.txt:12"
    spellings: all of them, the most frequent first
    example: the sentence of the mention with the highest score, if possible of the full name
    score: the mean score of the mentions
    """

    entity: str
    kind: str | None
    mentions: int
    documents: int
    first_mention: str
    spellings: tuple[str, ...]
    example: str
    score: float

    def as_json(self) -> dict[str, Any]:
        """Return the fields as values that JSON can hold."""
        return asdict(self) | {"spellings": list(self.spellings), "score": round(self.score, 6)}


@dataclass
class _Counts:
    """The mentions of a name, in a document or in the corpus."""

    first_mention: str
    first: int = 0  # the number of the first mention in its document
    mentions: int = 0
    documents: int = 0
    last_document: int = -1
    score: float = 0.0  # the sum of all mentions
    best_score: float = -1.0
    example: str = ""
    spellings: Counter[str] = field(default_factory=Counter)
    own_spellings: Counter[str] = field(default_factory=Counter)  # those that are not surnames
    kinds: Counter[str] = field(default_factory=Counter)

    @property
    def kind(self) -> str | None:
        return self.kinds.most_common(1)[0][0] if self.kinds else None

    def add(self, mention: Mention, text: str) -> None:
        """Count a mention."""
        span = mention.span
        self.mentions += 1
        self.score += span.score
        self.spellings[_one_line(span.text)] += 1
        if span.kind is not None:
            self.kinds[span.kind] += 1
        if span.score > self.best_score:
            self.best_score = span.score
            self.example = _example(mention, text)

    def merge(self, other: "_Counts", document: int, *, is_full_name: bool) -> None:
        """Add the counts of a name in a document."""
        self.mentions += other.mentions
        self.documents += self.last_document != document
        self.last_document = document
        self.score += other.score
        if (is_full_name, other.best_score) > (bool(self.own_spellings), self.best_score):
            self.best_score, self.example = other.best_score, other.example
        self.kinds.update(other.kinds)
        self.spellings.update(other.spellings)
        if is_full_name:
            self.own_spellings.update(other.spellings)
        for spellings in (self.spellings, self.own_spellings):
            if len(spellings) > 2 * _MAX_SPELLINGS:
                for spelling, _ in spellings.most_common()[_MAX_SPELLINGS:]:
                    del spellings[spelling]

    def row(self) -> EntityRow:
        """Return the row of the table."""
        names = self.own_spellings or self.spellings
        return EntityRow(
            entity=names.most_common(1)[0][0],
            kind=self.kind,
            mentions=self.mentions,
            documents=self.documents,
            first_mention=self.first_mention,
            spellings=tuple(spelling for spelling, _ in self.spellings.most_common(_MAX_SPELLINGS)),
            example=self.example,
            score=self.score / self.mentions,
        )


class EntityTable:
    """Counts the entities of documents.

    group: count spellings that differ in case, articles, possessives or accents as one entity, and
        surnames as the full name in the same document
    within: entities are mentioned together if they are in the same "sentence" or "document"
    max_entities: the number of entities that are counted at the same time
    """

    def __init__(
        self, *, group: bool = True, within: str = "sentence", max_entities: int = MAX_ENTITIES
    ) -> None:
        require_choice("within", within, CoMentionScope)
        require_number("max_entities", max_entities, at_least=1)
        self.group = group
        self.within = CoMentionScope(within)
        self.max_entities = max_entities
        self.forgotten = 0  # entities that were forgotten because there were too many
        self._entities: dict[str, _Counts] = {}
        self._pairs = CoMentionCounts()
        self._source: str | None = None
        self._document = -1  # the number of the current document
        self._names: dict[str, _Counts] = {}  # of the current document
        self._sentences: list[set[str]] = []  # the names of each sentence with several

    def __len__(self) -> int:
        self._end_document()
        return len(self._entities)

    def add(self, document: Document, mentions: Iterable[Mention]) -> None:
        """Count the mentions of a document.

        Blocks of one file, and the sentences of a CoNLL file, are parts of the same document.
        """
        is_part = document.offset > 0 or document.sentences is not None
        if not (is_part and document.source == self._source):
            self._end_document()
            self._document += 1
        self._source = document.source
        sentence, names_of_sentence = -1, set[str]()
        for mention in mentions:
            if mention.sentence_start != sentence:
                self._end_sentence(names_of_sentence)
                sentence, names_of_sentence = mention.sentence_start, set()
            names_of_sentence.add(self._count(document, mention))
        self._end_sentence(names_of_sentence)
        if len(self._names) > _MAX_NAMES_PER_DOCUMENT:
            self._end_document()

    def _count(self, document: Document, mention: Mention) -> str:
        text = mention.span.text
        key = name_key(text) if self.group else text
        if key not in self._names:
            first_mention = f"{document.source}:{document.line_of(mention.span.start)}"
            self._names[key] = _Counts(first_mention, first=len(self._names))
        self._names[key].add(mention, document.text)
        return key

    def _end_sentence(self, names: set[str]) -> None:
        if len(names) > 1 and self.within == CoMentionScope.SENTENCE:
            self._sentences.append(names)

    def _end_document(self) -> None:
        """Add the names of the current document to the table."""
        if not self._names:
            return
        full = self._full_names() if self.group else {}
        for name, counts in self._names.items():
            key = full.get(name, name)
            if key not in self._entities:
                self._entities[key] = _Counts(counts.first_mention)
            self._entities[key].merge(counts, self._document, is_full_name=key == name)
        groups = (
            self._sentences if self.within == CoMentionScope.SENTENCE else [self._frequent_names()]
        )
        for names in groups:
            self._pairs.add({full.get(name, name) for name in names})
        self._names, self._sentences = {}, []
        if len(self._entities) > self.max_entities:
            self._forget_rare_entities()

    def _frequent_names(self) -> set[str]:
        """Return the most frequent names of the current document."""
        ranked = sorted(self._names, key=lambda name: -self._names[name].mentions)
        return set(ranked[:_MAX_CO_MENTIONED])

    def _full_names(self) -> dict[str, str]:
        return full_names(
            {name: NameInDocument(each.first, each.kind) for name, each in self._names.items()}
        )

    def _forget_rare_entities(self) -> None:
        """Keep the three quarters of the entities that were mentioned most often."""
        kept = max(1, self.max_entities * 3 // 4)
        ranked = sorted(self._entities.items(), key=lambda item: -item[1].mentions)
        self.forgotten += len(ranked) - kept
        self._entities = dict(ranked[:kept])

    def rows(self, top: int | None = None) -> list[EntityRow]:
        """Return the entities, those with most mentions first.

        top: the number of entities to return; by default all
        """
        return [row for _, row in self._ranked(top)]

    def co_mentions(self, top: int | None = None) -> CoMentions:
        """Return the entities and how often each two of them were mentioned together.

        top: the number of entities to return; by default all
        """
        rows = dict(self._ranked(top))
        numbers = {key: number for number, key in enumerate(rows)}
        return CoMentions(tuple(rows.values()), self._pairs.between(numbers))

    def _ranked(self, top: int | None) -> list[tuple[str, EntityRow]]:
        if top is not None:
            require_number("top", top, at_least=1)
        self._end_document()
        rows = [(key, counts.row()) for key, counts in self._entities.items()]
        rows.sort(key=lambda item: (-item[1].mentions, -item[1].documents, -item[1].score))
        return rows[:top]


def entity_table(
    finder: "TextFinder",
    texts: Iterable[str | Document],
    *,
    threshold: float | None = None,
    only: Iterable[str] | None = None,
    group: bool = True,
    within: str = "sentence",
) -> EntityTable:
    """Find the entities of texts and count them.

    texts: strings, or documents from `read_texts`
    threshold, only: as in `finder.find`   group, within: as in `EntityTable`
    """
    table = EntityTable(group=group, within=within)
    kept = checked_filter(finder, threshold, None if only is None else list(only))
    documents, same_documents = tee(
        text if isinstance(text, Document) else Document(text, "text", number)
        for number, text in enumerate(texts, 1)
    )
    scored_texts = finder.score_texts(document.text for document in same_documents)
    for document, scored in zip(documents, scored_texts, strict=True):
        table.add(document, scored.mentions(*kept))
    return table


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _example(mention: Mention, text: str) -> str:
    """Return the sentence of a mention; of a long one, the part around the mention."""
    span, start, end = mention
    if end - start > _MAX_EXAMPLE:
        start = max(start, span.start - _MAX_EXAMPLE // 2)
        end = min(end, start + _MAX_EXAMPLE)
    before = "" if start == mention.sentence_start else "…"
    after = "" if end == mention.sentence_end else "…"
    return before + _one_line(text[start:end]) + after
