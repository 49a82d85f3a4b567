"""Tables of the entities of a corpus, and graphs of entities that are mentioned together."""

from thresher.entities.tables.co_mentions import CoMentions
from thresher.entities.tables.counting import EntityRow, EntityTable, entity_table
from thresher.entities.tables.plot import plot_co_mentions

__all__ = ["CoMentions", "EntityRow", "EntityTable", "entity_table", "plot_co_mentions"]
