"""Tables of the entities of a corpus, and graphs of entities that are mentioned together."""

from typing import TYPE_CHECKING

from thresher.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from thresher.entities.tables.co_mentions import CoMentions
    from thresher.entities.tables.counting import EntityRow, EntityTable, entity_table
    from thresher.entities.tables.plot import plot_co_mentions

__all__ = ["CoMentions", "EntityRow", "EntityTable", "entity_table", "plot_co_mentions"]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "thresher.entities.tables.co_mentions": ["CoMentions"],
        "thresher.entities.tables.counting": ["EntityRow", "EntityTable", "entity_table"],
        "thresher.entities.tables.plot": ["plot_co_mentions"],
    },
)
