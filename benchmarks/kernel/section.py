"""The section of docs/results.md on the fused margin loss, from benchmarks/results/kernel."""

import json
from typing import Any

from benchmarks.data import ALL_RESULTS

RESULTS = ALL_RESULTS / "kernel"
MISSING = "Not measured: `make bench-kernel`."
BANDWIDTH, RATE = 4.3e12, 790e12  # measured on an H200: bytes and bfloat16 operations per second

Row = dict[str, Any]


# Names in older JSON files, and what they are called now.
_PART_TITLES = {
    "survivors recorded": "record survivors",
    "room shared out": "allocate space for survivors",
    "light rows gathered": "gather rows with few survivors",
    "light rows listed": "list rows with few survivors",
    "popular tokens taken": "collect frequent tokens",
    "gradients of full rows": "gradients of recomputed rows",
    "gradients of heavy rows": "gradients of rows with many survivors",
    "products": "matrix products",
}
_TRAINING_TITLES = {
    "margin 4, float32 logits, moved": "margin 4, float32 logits, perturbed weights"
}


def section() -> str:
    """Return the section as Markdown."""
    speed = result("speed")
    about = f"{speed['machine']['device']}, torch {speed['machine']['torch']}. " if speed else ""
    blocks = [
        "## The margin loss from hidden states",
        f"`make bench-kernel`; {about}bfloat16, margin 4; median of ten; peak memory beyond the "
        "inputs, including gradients.\nThe inputs are synthetic, with survivors distributed over "
        "rows as in a trained model (`benchmarks/kernel/cases.py`); the resulting\ndistribution is "
        "given. How the kernels work, and which goals are missed: [kernel.md](kernel.md).",
        *(_comparison(name) for name in ("speed", "wide", "worst")),
        _parts(),
        _small(),
        _training(),
        _growth(),
        _grid(),
    ]
    return "\n\n".join(blocks) + "\n"


def result(name: str) -> Row | None:
    """Return the measurement of that name, None if there is none."""
    path = RESULTS / f"{name}.json"
    found: Row | None = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return found


def _comparison(name: str) -> str:
    titles = {
        "speed": "like a trained model",
        "wide": "like a trained model, larger vocabulary",
        "worst": "like an untrained model: every token survives",
    }
    measured = result(name)
    if measured is None:
        return f"### {titles[name].capitalize()}\n\n{MISSING}"
    positions, width, vocabulary = measured["shape"]
    kept = measured["survival"]
    held = ", ".join(f"{value:.2f}" for value in kept["held"].values())
    lines = [
        f"### {positions:,} positions, width {width:,}, vocabulary {vocabulary:,}, {titles[name]}",
        "",
        f"Survivors: mean {kept['mean']:.1%}, median {kept['median']:.2%} of the vocabulary; the "
        f"2, 5, 10, 20 % of rows with the most survivors have {held} of them.\nRows: "
        f"{kept['rows']['full']:,} recomputed, "
        f"{kept['rows']['dense'] - kept['rows']['full']:,} multiplied from recorded logits, "
        f"{kept['rows']['all'] - kept['rows']['dense']:,} gathered. One matrix product alone: "
        f"{measured['product_ms']:.1f} ms.",
        "",
        "| | forward + backward, ms | forward, ms | peak, MiB | loss |",
        "|---|---|---|---|---|",
    ]
    for method, row in measured["rows"].items():
        if "failed" in row:
            lines.append(f"| {method} | failed | | | |")
            continue
        figures = f"{row['total_ms']:.1f} | {row['forward_ms']:.1f} | {row['peak_mib']:,.0f}"
        lines.append(f"| {method} | {figures} | {row['loss']:.4f} |")
    return "\n".join(lines)


def _parts() -> str:
    """Return a table of the time by part, next to the lower bound of the hardware."""
    title = "### Time by part"
    measured = result("speed")
    if measured is None or "failed" in measured["parts"]:
        return f"{title}\n\n{MISSING}"
    bounds = _lower_bounds(measured)
    times = {_part_title(name): ms for name, ms in measured["parts"].items()}
    parts = sorted(times.items(), key=lambda part: -part[1])
    rows = [
        f"| {name} | {ms:.2f} | {f'{bounds[name]:.2f}' if name in bounds else ''} |"
        for name, ms in parts
        if ms >= 0.05
    ]
    total = sum(measured["parts"].values())
    text = (
        f"{title}\n\nMilliseconds on the device of one pass after a pause, {total:.1f} in total. "
        f"Repeated passes take {measured['rows']['thresher, Triton']['total_ms']:.1f} ms,\n"
        "presumably because the clock rate falls under load, and because the device waits for the "
        f"host twice. Lower bound: {RATE / 1e12:.0f} TFLOP/s and\n{BANDWIDTH / 1e12:.1f} TB/s; "
        "gathers can be faster, because vectors are still in the cache and frequent tokens are "
        "multiplied instead."
    )
    return "\n".join([text, "", "| | ms | lower bound |", "|---|---|---|", *rows])


def _part_title(name: str) -> str:
    stage, _, part = name.partition(": ")
    return f"{stage}: {_PART_TITLES.get(part, part)}"


def _lower_bounds(measured: Row) -> dict[str, float]:
    positions, width, vocabulary = measured["shape"]
    rows, gathered = measured["survival"]["rows"], measured["survival"]["gathered"]
    product = 2 * positions * width * vocabulary
    dense = product * (2 * rows["dense"] + rows["full"]) / positions
    return {
        "forward: matrix products": 1e3 * product / RATE,
        "forward: record survivors": 1e3 * positions * vocabulary * 4 / BANDWIDTH,
        "backward: matrix products": 1e3 * dense / RATE,
        "backward: gather rows with few survivors": 1e3
        * (2 * gathered * width * 2 + (vocabulary + positions) * width * 2)
        / BANDWIDTH,
    }


def _small() -> str:
    """Return a table of both implementations on small inputs."""
    title = "### Small inputs"
    measured = result("small")
    if measured is None:
        return f"{title}\n\n{MISSING}"
    lines = [
        f"{title}\n\nForward + backward, ms; peak, MiB. By default, plain torch is used if "
        "there are few logits and the weight is small\n(`FEW_LOGITS`, `SMALL_WEIGHT` of "
        "`thresher.lm.losses.kernels.choice`).",
        "",
        "| positions, width, vocabulary | Triton | chunked | peak, Triton | chunked |",
        "|---|---|---|---|---|",
    ]
    for row in measured["shapes"]:
        shape = ", ".join(f"{size:,}" for size in row["shape"])
        fused, plain = row["rows"]["triton"], row["rows"]["chunked"]
        lines.append(
            f"| {shape} | {fused['total_ms']:.1f} | {plain['total_ms']:.1f} | "
            f"{fused['peak_mib']:,.0f} | {plain['peak_mib']:,.0f} |"
        )
    return "\n".join(lines)


def _training() -> str:
    title = "### A training run"
    measured = result("training")
    if measured is None:
        return f"{title}\n\n{MISSING}"
    rows = measured["rows"]
    reference = next(iter(rows.values()))
    lines = [
        f"{title}\n\nA transformer of 6 layers, width {measured['width']}, over "
        f"{measured['vocabulary']:,} byte pairs of English, {measured['positions']:,} positions "
        f"per step, {measured['steps']} steps\nfrom the same weights on the same batches; losses "
        "are means of 20 steps. The time of a step includes the transformer and the optimizer.",
        "",
        "| | loss, first 20 steps | middle | last | largest difference | equal to three digits "
        "until step | step, ms | peak, MiB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        curve = row["curve"]
        off = max(abs(a - b) / b for a, b in zip(curve, reference["curve"], strict=True))
        agreement = f"{off:.2%} | {_three_digits(row['losses'], reference['losses'])}"
        difference = agreement if "margin" in name else "different loss | "
        lines.append(
            f"| {_TRAINING_TITLES.get(name, name)} | {curve[0]:.3f} | "
            f"{curve[len(curve) // 2]:.3f} | {curve[-1]:.3f} | {difference} | "
            f"{row['step_ms']:.1f} | {row['peak_mib']:,.0f} |"
        )
    return "\n".join(lines)


def _three_digits(losses: list[float], reference: list[float]) -> int:
    """Return the first step, from 1, whose loss differs by more than half of the third digit."""
    pairs = enumerate(zip(losses, reference, strict=True), 1)
    return next((step for step, (a, b) in pairs if abs(a - b) > 5e-4 * b), len(losses))


def _growth() -> str:
    measured = result("growth")
    if measured is None:
        return f"### Growth\n\n{MISSING}"
    positions, width, vocabulary = measured["shape"]
    return (
        f"### Growth\n\n{measured.get('note', '')}Around {positions:,} positions, width "
        f"{width:,}, vocabulary {vocabulary:,}:\n\n![Time and memory over positions, "
        "vocabulary and the fraction of survivors](pictures/kernel-growth.svg)"
    )


def _grid() -> str:
    measured = result("grid")
    if measured is None:
        return f"### Correctness\n\n{MISSING}"
    failed = len(measured["failed"])
    return (
        f"### Correctness\n\n`benchmarks/kernel/grid.py`: {measured['cells']:,} combinations of "
        "dtype, shape, ignored targets, bias, softcap, reduction and margin,\nthe value and the "
        "gradients compared with float64. The error must not exceed that of a naive computation in "
        "the same precision by more than a tolerance plus\nthe influence of entries that are on "
        f"the threshold within rounding. Combinations above this limit: {failed or 'none'};\n"
        f"without the allowance for the threshold: {measured['on_threshold'] + failed or 'none'}."
    )


if __name__ == "__main__":
    print(section())
