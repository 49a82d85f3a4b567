"""Entities that are mentioned together, as a graph: counted, and written as GraphML."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from thresher.entities.tables.counting import EntityRow

MAX_PAIRS = 1_000_000

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_NODE_TYPES = {"label": "string", "kind": "string", "mentions": "long", "documents": "long"}
_NODE_TYPES |= {"score": "double"}


class CoMentionCounts:
    """Counts pairs of names; if there are more than `max_pairs`, the rarest are forgotten."""

    def __init__(self, max_pairs: int = MAX_PAIRS) -> None:
        self.max_pairs = max_pairs
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, names: Collection[str]) -> None:
        """Count all pairs of names that are mentioned together."""
        self._counts.update(combinations(sorted(names), 2))
        if len(self._counts) > self.max_pairs:
            self._counts = Counter(dict(self._counts.most_common(self.max_pairs * 3 // 4)))

    def between(self, numbers: Mapping[str, int]) -> dict[tuple[int, int], int]:
        """Return the counts of pairs of these names, by their numbers."""
        pairs = {
            (min(numbers[a], numbers[b]), max(numbers[a], numbers[b])): count
            for (a, b), count in self._counts.items()
            if a in numbers and b in numbers
        }
        return dict(sorted(pairs.items()))


@dataclass(frozen=True)
class CoMentions:
    """A graph of entities.

    entities: the nodes
    counts: the edges: how often the entities with two indices were mentioned together
    """

    entities: tuple["EntityRow", ...]
    counts: Mapping[tuple[int, int], int]

    def connected(self) -> "CoMentions":
        """Return the graph without entities that are mentioned alone."""
        used = sorted({number for pair in self.counts for number in pair})
        new = {old: number for number, old in enumerate(used)}
        return CoMentions(
            tuple(self.entities[number] for number in used),
            {(new[a], new[b]): count for (a, b), count in self.counts.items()},
        )

    def to_graphml(self) -> bytes:
        """Return the graph as a GraphML file, which Gephi, Cytoscape and networkx can read.

        Nodes have label, kind, mentions, documents and score; edges have a weight.
        """
        root = ET.Element("graphml", xmlns=_NAMESPACE)
        for name, value_type in _NODE_TYPES.items():
            _declare(root, name, "node", value_type)
        _declare(root, "weight", "edge", "long")
        graph = ET.SubElement(root, "graph", edgedefault="undirected")
        for number, row in enumerate(self.entities):
            node = ET.SubElement(graph, "node", id=f"n{number}")
            values = row.as_json() | {"label": row.entity}
            _add_data(node, ((name, values[name]) for name in _NODE_TYPES))
        for (a, b), count in self.counts.items():
            edge = ET.SubElement(graph, "edge", source=f"n{a}", target=f"n{b}")
            _add_data(edge, [("weight", count)])
        ET.indent(root)
        content: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
        return content + b"\n"


def _declare(root: ET.Element, name: str, domain: str, value_type: str) -> None:
    attributes = {"for": domain, "attr.name": name, "attr.type": value_type}
    ET.SubElement(root, "key", {"id": name} | attributes)


def _add_data(element: ET.Element, values: Iterable[tuple[str, object]]) -> None:
    for name, value in values:
        if value is not None:
            ET.SubElement(element, "data", key=name).text = _xml_text(str(value))


def _xml_text(text: str) -> str:
    """Replace characters that XML cannot contain, not even escaped."""
    return "".join(each if _is_xml(ord(each)) else "\ufffd" for each in text)


def _is_xml(code: int) -> bool:
    return code in (9, 10) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
