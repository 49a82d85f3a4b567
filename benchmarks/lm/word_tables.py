"""The tables of the experiments on words and byte pairs, and of speed."""

import math
from statistics import correlation, mean

from benchmarks.lm.corpora import LANGUAGES, PAIRS
from benchmarks.lm.experiments import FIVE_LANGUAGES, OUTPUT_LAYERS
from benchmarks.lm.rows import Result, results
from benchmarks.lm.spread import MISSING, named, spread, table, values


def five_languages() -> str:
    """The test loss of each language, and of tokens seen seldom."""
    found = results("five-languages")
    languages = ["eng", *LANGUAGES]
    lines = []
    for row in FIVE_LANGUAGES.rows:
        seeds = found.get(row)
        cells = [spread(seeds, lambda each, lg=lg: each["best"][lg]["loss"]) for lg in languages]  # type: ignore[misc]
        lines.append([named(row, seeds), *cells, spread(seeds, rare_loss)])
    return table(["", *languages, "tokens seen < 30 times"], lines) + _beaten(found, languages)


def _beaten(found: dict[str, dict[int, Result]], languages: list[str]) -> str:
    """Where a margin's mean loss is less than that of the same row without one."""

    def loss(row: str, language: str) -> float:
        return mean(values(found[row], lambda each: each["best"][language]["loss"]))

    told = []
    for row in FIVE_LANGUAGES.rows:
        _, *rest = row.split(", ")
        plain = ", ".join(["standard", *rest])
        if row != plain and row in found and plain in found:
            won = [name for name in languages if loss(row, name) < loss(plain, name)]
            told.append(f"{row}: {'all' if won == languages else ', '.join(won) or 'none'}")
    if not told:
        return ""
    return f"\n\nLess test loss than without a margin, mean over seeds: {'; '.join(told)}."


def rare_loss(result: Result) -> float:
    """The mean test loss where the target was seen less than 30 times, over all languages."""
    texts = result["best"].values()
    loss: float = sum(text["rare_loss"] for text in texts)
    count: int = sum(text["rare_count"] for text in texts)
    return loss / count


def output_layers() -> str:
    """Perplexity, speed and size of every layer."""
    found, speeds = results("output-layers"), results("speed")
    gpu = speeds.get("output layers, GPU", {}).get(0, {})
    cpu = speeds.get("output layers, CPU", {}).get(0, {})
    lines = []
    for row in OUTPUT_LAYERS.rows:
        seeds = found.get(row)
        lines.append(
            [
                named(row, seeds),
                spread(seeds, lambda each: each["best"]["all"]["perplexity"], 1),
                spread(seeds, lambda each: each["best"]["all"]["perplexity_at_temperature"], 1),
                spread(seeds, rare_loss, 2),
                _thousands(gpu.get("tokens_per_second", {}).get(row)),
                _thousands(cpu.get("tokens_per_second", {}).get(row)),
                f"{seeds[min(seeds)]['parameters'] / 1e6:.1f} M" if seeds else MISSING,
            ]
        )
    head = ["", "perplexity", "at best T", "loss, seen < 30 times"]
    return table([*head, "tokens/s, GPU", "tokens/s, CPU", "parameters"], lines)


def _thousands(value: float | None) -> str:
    return MISSING if value is None else f"{value:,.0f}"


def class_speed_up() -> str:
    """How much faster √V classes are, and what √V promises."""
    speeds = results("speed")
    lines = []
    for kind in ("GPU", "CPU"):
        measured = speeds.get(f"classes, {kind}", {}).get(0, {})
        for vocabulary, times in measured.get("vocabularies", {}).items():
            lines.append(
                [
                    f"{kind}, V = {int(vocabulary):,}",
                    f"{1000 * times['full']:.2f}",
                    f"{1000 * times['classes']:.2f}",
                    f"{times['speed_up']:.1f}",
                    f"{math.sqrt(int(vocabulary)) / 2:.0f}",
                ]
            )
    if not lines:
        return f"{MISSING}."
    head = ["", "full, ms", "classes, ms", "speed-up", "V / 2√V products"]
    return table(head, lines)


def vocabularies() -> str:
    """Rényi efficiency beside bits per byte, and how they go together."""
    found = results("vocabularies")
    lines, points = [], []
    for size in PAIRS:
        seeds = found.get(str(size))
        rate = spread(seeds, lambda each: each["best"]["all"]["bits_per_byte"], 4)
        lines.append(
            [f"{size:,}", spread(seeds, lambda each: each["efficiency"]).partition("±")[0], rate]
        )
        if seeds:
            rates = values(seeds, lambda each: each["best"]["all"]["bits_per_byte"])
            points.append((next(iter(seeds.values()))["efficiency"], mean(rates)))
    text = table(["tokens", "Rényi efficiency", "bits per byte"], lines)
    if len(points) > 2:
        text += (
            f"\n\nPearson's correlation over sizes: {correlation(*zip(*points, strict=True)):.2f}."
        )
    return text


def training_speed() -> str:
    """The training loop beside a bare one."""
    speeds = results("speed")
    lines = []
    for kind in ("GPU", "CPU"):
        found = speeds.get(f"training, {kind}", {}).get(0)
        if not found:
            lines.append([kind, *[MISSING] * 5])
            continue
        rates = found["tokens_per_second"]
        margin = speeds.get(f"margin, {kind}", {}).get(0)
        lines.append(
            [
                f"{kind} ({found['machine']['device']})",
                f"{rates['bare']:,.0f}",
                f"{rates['train']:,.0f}",
                f"{100 * found['train_over_bare']:.1f} %",
                f"{100 * margin['margin_cost']:+.1f} %" if margin else MISSING,
                f"{100 * found['diagnostics_cost']:+.1f} %",
            ]
        )
    head = ["", "bare, tokens/s", "`train`, tokens/s", "of bare", "margin", "diagnostics"]
    return table(head, lines)
