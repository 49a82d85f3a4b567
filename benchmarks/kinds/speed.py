"""The time of finding with kinds, as a multiple of the time without them."""

import time
from statistics import median

from benchmarks.data import DATA
from thresher.entities.built_in import ENGLISH, FAST_ENGLISH, SMALL_ENGLISH
from thresher.entities.finder import EntityFinder

_RUNS = 5
_CHARACTERS = 50_000


def figures() -> dict[str, dict[str, float]]:
    """Return the ratio of processor times for each built-in model; runs are interleaved."""
    text = (DATA / "raw" / "eng" / "wiki.txt").read_text(encoding="utf-8")[:_CHARACTERS]
    paragraphs = text.split("\n\n")
    results = {}
    for name in (ENGLISH, SMALL_ENGLISH, FAST_ENGLISH):
        with_kinds = EntityFinder.load(name, device="cpu")
        finders = {"with": with_kinds, "without": with_kinds.with_kinds(None)}
        times: dict[str, list[float]] = {key: [] for key in finders}
        for _ in range(_RUNS + 1):
            for key, finder in finders.items():
                fresh = EntityFinder(finder.encoder, finder.model)  # without a cache of names
                start = time.process_time()
                list(fresh.find_all(paragraphs))
                times[key].append(time.process_time() - start)
        ratios = [a / b for a, b in zip(times["with"][1:], times["without"][1:], strict=True)]
        results[name] = {"ratio": median(ratios), "least": min(ratios), "most": max(ratios)}
    return results
