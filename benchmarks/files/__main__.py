"""Find the entities of nine kinds of text, and count exact, missed and false ones.

make bench-files
python -m benchmarks.files --show
"""

import argparse
import json
from dataclasses import asdict
from functools import reduce

from benchmarks.data import ALL_RESULTS
from benchmarks.files.marked_texts import KINDS, Counts, count, differences, marked_texts
from thresher import EntityFinder

RESULT = ALL_RESULTS / "files.json"
MODELS = ("english", "small-english", "fast-english")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument(
        "--show", action="store_true", help="print what was missed and what is false"
    )
    options = parser.parse_args()
    texts = {
        kind: [t for name in names for t in marked_texts(name)] for kind, names in KINDS.items()
    }
    measured = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    for model in options.models:
        finder = EntityFinder.load(model)
        measured[model] = {}
        for kind, own in texts.items():
            total = reduce(Counts.__add__, (count(finder, text) for text in own), Counts())
            measured[model][kind] = asdict(total)
            print(f"{model:14} {kind:12} {total}, {total.false_share:.0%} of the found are false")
            if options.show:
                for text in own:
                    missed, false = differences(finder, text)
                    if missed or false:
                        print(f"    missed {missed}\n    false {false}")
    RESULT.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
