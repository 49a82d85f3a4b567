"""thresher kinds: discover kinds of entities in texts."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from thresher.atomic_files import write_file
from thresher.bulk.chunks import sentences_of
from thresher.bulk.finder_choice import FinderChoice
from thresher.cli.entities.find_options import Exact, Model
from thresher.cli.errors import Problems
from thresher.cli.models import load_entity_finder
from thresher.cli.option_groups import number_option, option, with_option_groups
from thresher.cli.options import RunOptions, TextOptions, output_option
from thresher.cli.output import check_outputs, open_output, plural
from thresher.cli.progress import print_remark, progress_bars
from thresher.errors import InputError

if TYPE_CHECKING:
    from thresher import EntityFinder
    from thresher.entities.kinds.discovery import DiscoveredKinds
    from thresher.text.document import Document

Output = Annotated[
    Path | None,
    output_option("TOML file to write."),
]
Groups = Annotated[
    int | None,
    number_option("Number of kinds; by default the number whose groups are best separated.", min=2),
]
Plot = Annotated[
    Path | None,
    option("Picture of all entities, .svg or .png; needs the extra plots.", metavar="FILE"),
]
_SUFFIXES = (".svg", ".png")


@with_option_groups
def kinds(
    *,
    texts: TextOptions,
    output: Output = None,
    groups: Groups = None,
    plot: Plot = None,
    model: Model = None,
    exact: Exact = False,
    run: RunOptions,
) -> None:
    """Discover kinds of entities in texts: group the entities and name the groups.

    thresher kinds corpus.txt -o kinds.toml
    thresher kinds corpus/ -o kinds.toml --groups 8 --plot map.svg
    thresher find notes.txt --kinds kinds.toml

    The file has the most typical names of each group. Rename kinds, remove wrong
    names, merge groups, and use it with --kinds.
    """
    check_outputs((output, plot), texts.sources)
    if plot is not None and plot.suffix.lower() not in _SUFFIXES:
        raise InputError(f"{plot} must end with {' or '.join(_SUFFIXES)}")
    problems = Problems()
    documents = texts.read(problems)
    finder = load_entity_finder(FinderChoice(model, run.device, exact=exact), quiet=run.quiet)
    with progress_bars(quiet=run.quiet) as progress:
        found = discover(finder, progress.track(documents, "reading"), groups=groups)
    if plot is not None:
        from thresher.entities.kinds.plot import draw_map  # noqa: PLC0415 (an extra)

        write_file(plot, draw_map(found, format=plot.suffix.lower()[1:]))
    with open_output(output) as write:
        for piece in _toml(found):
            write(piece)
    if output is not None:
        print_remark(f"{plural(len(found.kinds), 'kind')} in {output}", quiet=run.quiet)
    problems.exit_if_any()


def discover(
    finder: "EntityFinder", documents: Iterable["Document"], *, groups: int | None = None
) -> "DiscoveredKinds":
    """Discover the kinds of the entities of documents."""
    from thresher.text.indexed_sentences import IndexedSentences  # noqa: PLC0415 (numpy)

    sentences = IndexedSentences.from_sentences(sentences_of(documents))
    return finder.discover_kinds_words(sentences, groups=groups)


def _toml(found: "DiscoveredKinds") -> Iterator[str]:
    yield "# Discovered by thresher kinds. Rename kinds, remove wrong names, merge groups.\n\n"
    sizes = {kind: int((found.labels == number).sum()) for number, kind in enumerate(found.kinds)}
    remarks = {kind: f"{size} different names" for kind, size in sizes.items()}
    yield found.examples().to_toml(remarks)
