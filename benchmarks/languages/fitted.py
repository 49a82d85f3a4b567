"""Fit finders on raw text of one language: its own encoder, the multilingual one, or both.

    python -m benchmarks.languages.fitted [--languages hau …] [--seeds 0 1 2] [--shared]

Writes benchmarks/results/languages/multilingual/fitted-LANGUAGE-SEED.json: the loss by which one
of the three is chosen without labels, and the figures of each on the report split. Needs a GPU,
where one language takes about two minutes. With --shared only the multilingual encoder is used,
in int8 on a CPU (two minutes of CPU time), and shared-LANGUAGE-SEED.json has the figures without
and with adaptation to the report split.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.data import read_gold
from benchmarks.languages.data import raw_sentences
from benchmarks.languages.measure import RESULTS, adapted, figures
from benchmarks.languages.multilingual_data import LANGUAGE_SETS
from thresher.atomic_files import write_file
from thresher.encoders import load_encoder
from thresher.encoders.joined import JoinedEncoder
from thresher.encoders.language_model import LanguageModelEncoder
from thresher.encoders.loading import choose_device
from thresher.encoders.training import train_encoder
from thresher.entities.finder import EntityFinder
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.fit_finder import choose_encoder
from thresher.entities.training.settings import EntitySettings
from thresher.progress import SilentProgress

LANGUAGES = (
    "swa",
    "hau",
    "ibo",
    "yor",
)  # with capitals; `multilingual` itself reads Amharic better


def measure(language: str, seed: int) -> dict[str, Any]:
    """Return the losses and figures of all three encoders."""
    text = [words for words in raw_sentences(language) if words]
    gold = read_gold({language: LANGUAGE_SETS[language]})[0]
    device = choose_device(None)
    trained = train_encoder(text, size="large", seed=seed, device=device.type)
    own = LanguageModelEncoder(trained, name="own", device=device)
    shared = load_encoder("multilingual", device=device)
    encoders = {"own": own, "multilingual": shared, "joined": JoinedEncoder([shared, own])}
    settings = EntitySettings(seed=seed, contrast=0.0)
    prior_knowledge = PriorKnowledge(dates=True)
    _, losses = choose_encoder(
        list(encoders.values()),
        text,
        settings=settings,
        prior_knowledge=prior_knowledge,
        progress=SilentProgress(),
    )
    results: dict[str, Any] = {"losses": dict(zip(encoders, losses.values(), strict=True))}
    for name, encoder in encoders.items():
        finder = EntityFinder.fit_words(
            text, encoder=encoder, settings=settings, prior_knowledge=prior_knowledge
        )
        results[name] = {case: figures(finder, data) for case, data in gold.cases().items()}
    return results


def measure_shared(language: str, seed: int) -> dict[str, Any]:
    """Return the figures of a finder with the multilingual encoder."""
    finder = EntityFinder.fit_words(
        [words for words in raw_sentences(language) if words],
        encoder="multilingual",
        settings=EntitySettings(seed=seed, contrast=0.0),
        prior_knowledge=PriorKnowledge(dates=True),
    )
    return shared_figures(finder, language)


def shared_figures(finder: EntityFinder, language: str) -> dict[str, Any]:
    """Return the figures on the report split by case, without and with adaptation to it."""
    gold = read_gold({language: LANGUAGE_SETS[language]})[0]
    encoded = finder.encode(gold.sentences)
    return {
        case: {"fixed": figures(finder, data, encoded), "adapted": adapted(finder, data, encoded)}
        for case, data in gold.cases().items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--languages", nargs="*", default=list(LANGUAGES), choices=LANGUAGES)
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--shared", action="store_true", help="only the multilingual encoder")
    parser.add_argument("-o", "--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for seed in options.seeds:
        for language in options.languages:
            if options.shared:
                results = measure_shared(language, seed)
                path = options.out / f"shared-{language}-{seed}.json"
                write_file(path, (json.dumps(results, indent=1) + "\n").encode())
                print(language, seed, results, flush=True)
                continue
            results = measure(language, seed)
            path = options.out / f"fitted-{language}-{seed}.json"
            write_file(path, (json.dumps(results, indent=1) + "\n").encode())
            shown = {each: results[each]["cased"]["span_f1"] for each in results["losses"]}
            print(language, seed, results["losses"], shown, flush=True)


if __name__ == "__main__":
    main()
