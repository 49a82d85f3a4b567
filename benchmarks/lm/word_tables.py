"""Tables of the experiments on words and byte pairs, and of training speed."""

import math
from statistics import correlation, mean

from benchmarks.lm.corpora import LANGUAGES, PAIRS
from benchmarks.lm.experiments import AUTOMATIC_MARGIN, FIVE_LANGUAGES, OUTPUT_LAYERS
from benchmarks.lm.rows import Result, results
from benchmarks.lm.spread import MISSING, named, spread, table, values


def five_languages() -> str:
    """Return a table of the test loss of each language, and of rare tokens."""
    found = results("five-languages")
    languages = ["eng", *LANGUAGES]
    lines = []
    for row in FIVE_LANGUAGES.rows:
        seeds = found.get(row)
        cells = [spread(seeds, lambda each, lg=lg: each["best"][lg]["loss"]) for lg in languages]  # type: ignore[misc]
        lines.append([named(row, seeds), *cells, spread(seeds, rare_loss)])
    return table(["", *languages, "tokens with < 30 occurrences"], lines) + _languages_with_gain(
        found, languages
    )


def _languages_with_gain(found: dict[str, dict[int, Result]], languages: list[str]) -> str:
    """Return a sentence on the languages in which a margin has a lower mean loss than none."""

    def loss(row: str, language: str) -> float:
        return mean(values(found[row], lambda each: each["best"][language]["loss"]))

    better = []
    for row in FIVE_LANGUAGES.rows:
        dropout = [part for part in row.split(", ") if part.startswith("dropout")]
        plain = ", ".join(["standard", *dropout])
        if row != plain and row in found and plain in found:
            won = [name for name in languages if loss(row, name) < loss(plain, name)]
            better.append(f"{row}: {'all' if won == languages else ', '.join(won) or 'none'}")
    if not better:
        return ""
    return f"\n\nLanguages with a lower mean test loss than without a margin: {'; '.join(better)}."


def rare_loss(result: Result) -> float:
    """Return the mean test loss of targets with fewer than 30 training occurrences."""
    texts = result["best"].values()
    loss: float = sum(text["rare_loss"] for text in texts)
    count: int = sum(text["rare_count"] for text in texts)
    return loss / count


def automatic_margin() -> str:
    """Return a table of the test losses with the standard loss and with `--margin auto`."""
    found = results("automatic-margin")
    names = dict.fromkeys(row.rpartition(": ")[0] for row in AUTOMATIC_MARGIN.rows)
    lines = []
    for name in names:
        standard, auto = (found.get(f"{name}: {loss}", {}) for loss in ("standard", "auto"))
        settings = next((each["settings"] for each in auto.values()), None)
        lines.append(
            [
                named(name, auto),
                f"{settings['margin']}" if settings else MISSING,
                *(
                    f"{spread(standard, figure)} → {spread(auto, figure)}" if auto else MISSING
                    for figure in (lambda each: each["best"]["all"]["loss"], _rare_tokens_loss)
                ),
            ]
        )
    return table(["standard → auto", "margin chosen", "all tokens", "rare tokens"], lines)


def _rare_tokens_loss(result: Result) -> float:
    """Return the mean loss of ranks 41–50, or of tokens with fewer than 30 occurrences."""
    by_rank: dict[str, float] = result["best"]["all"]["loss_by_popularity"]
    return by_rank["ranks 41-50"] if "ranks 41-50" in by_rank else rare_loss(result)


def output_layers() -> str:
    """Return a table of perplexity, speed and size of every output layer."""
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
    head = [
        "",
        "perplexity",
        "perplexity at the best temperature",
        "loss of tokens with < 30 occurrences",
    ]
    return table([*head, "tokens/s, GPU", "tokens/s, CPU", "parameters"], lines)


def _thousands(value: float | None) -> str:
    return MISSING if value is None else f"{value:,.0f}"


def class_speed_up() -> str:
    """Return a table of the speed-up of √V classes, measured and by the number of products."""
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
    head = ["", "full, ms", "classes, ms", "speed-up", "expected, V / 2√V"]
    return table(head, lines)


def vocabularies() -> str:
    """Return a table of Rényi efficiency and bits per byte, and their correlation."""
    found = results("vocabularies")
    lines, points = [], []
    for size in PAIRS:
        seeds = found.get(str(size))
        rate = spread(seeds, lambda each: each["best"]["all"]["bits_per_byte"], 4)
        lines.append(
            [f"{size:,}", spread(seeds, lambda each: each["efficiency"]).partition(" (")[0], rate]
        )
        if seeds:
            rates = values(seeds, lambda each: each["best"]["all"]["bits_per_byte"])
            points.append((next(iter(seeds.values()))["efficiency"], mean(rates)))
    text = table(["vocabulary", "Rényi efficiency", "bits per byte"], lines)
    if len(points) > 2:
        text += (
            f"\n\nPearson's correlation over sizes: {correlation(*zip(*points, strict=True)):.2f}."
        )
    return text


def training_speed() -> str:
    """Return a table of the speed of the training loop and of a minimal loop."""
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
    head = [
        "",
        "minimal loop, tokens/s",
        "`train`, tokens/s",
        "ratio",
        "cost of the margin",
        "cost of the diagnostics",
    ]
    return table(head, lines)
