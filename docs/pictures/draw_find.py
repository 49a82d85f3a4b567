"""Draw find.svg: the output of `thresher find` on a terminal."""

import re
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI

from thresher import EntityFinder
from thresher.cli.entities.highlight import highlight

HERE = Path(__file__).parent
PARAGRAPHS = 2


def main() -> None:
    """Write the figure."""
    text = (HERE.parents[1] / "examples" / "harbour.txt").read_text(encoding="utf-8")
    shown = "\n\n".join(text.split("\n\n")[:PARAGRAPHS])
    with (HERE / "find.svg").open("w", encoding="utf-8") as file:
        console = Console(record=True, width=80, file=file, force_terminal=True)
        console.print("$ thresher find harbour.txt", style="bold")
        console.print(highlight(shown, EntityFinder.default().find(shown)))
        svg = console.export_svg(title="thresher", theme=MONOKAI, unique_id="thresher")
    # The SVG must not load fonts from the internet; viewers use their own.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    (HERE / "find.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
