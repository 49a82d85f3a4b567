"""Write the built-in multilingual model into the package, with its model card.

    python -m benchmarks.languages.build_multilingual [--model benchmarks/models/multilingual-0]

Uses a model of `benchmarks.languages.train_multilingual`, and keeps the kinds of the built-in one,
which depend on the encoder alone (`benchmarks.kinds.build` learns them again).
"""

import argparse
import dataclasses
import json
from pathlib import Path

from benchmarks.data import MODELS, ROOT
from benchmarks.entities.build_english import LICENCE
from benchmarks.entities.build_english import SOURCES as ENGLISH_SOURCES
from benchmarks.languages.measure import RESULTS
from benchmarks.languages.multilingual_data import SOURCES
from thresher.entities.built_in import MULTILINGUAL
from thresher.entities.model import FinderModel
from thresher.entities.model_card import source_table
from thresher.entities.priors.casing import has_letters, is_address

FOLDER = ROOT / "src" / "thresher" / "entities" / MULTILINGUAL


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=MODELS / "multilingual-0")
    parser.add_argument("-o", "--out", type=Path, default=FOLDER)
    parser.add_argument("--kinds-of", type=Path, default=FOLDER, help="whose kinds to keep")
    options = parser.parse_args()
    model = FinderModel.read(options.model)
    words = frozenset(w for w in model.ordinary or () if has_letters(w) and not is_address(w))
    sources = {"licence": LICENCE, "sources": (*ENGLISH_SOURCES, *SOURCES)}
    model = dataclasses.replace(
        model,
        ordinary=words,
        learned_from=model.learned_from | sources,
        kinds=FinderModel.read(options.kinds_of).kinds,
    )
    model.write(options.out)
    (options.out / "README.md").write_text(_model_card(model), encoding="utf-8")
    print(f"wrote {options.out}")


def _model_card(model: FinderModel) -> str:
    template = Path(__file__).with_name("multilingual_card.md").read_text(encoding="utf-8")
    parameters = sum(value.numel() for value in model.selector.parameters())
    return template.format(
        licence=LICENCE,
        size=f"{2 * parameters / 1000:.0f} kB",
        encoder=model.encoder,
        layer=model.layer,
        ordinary=len(model.ordinary or ()),
        words=model.learned_from["words"],
        sentences=model.learned_from["sentences"],
        sources=source_table(model.learned_from),
        threshold=model.threshold,
        figures=_figures(),
        **dataclasses.asdict(model.signal_weights),
    )


def _figures() -> str:
    """Return span F1 of seed 0 on the report splits as a table, if it was measured."""
    path = RESULTS / f"{MULTILINGUAL}-0.json"
    if not path.exists():
        return "Not measured yet: `make bench-languages`."
    lines = ["| set | cased | lower-cased |", "|---|---|---|"]
    for name, cases in json.loads(path.read_text(encoding="utf-8")).items():
        cells = [
            f"{cases[case]['adapted']['span_f1']:.3f}" if case in cases else "–"
            for case in ("cased", "lower")
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
