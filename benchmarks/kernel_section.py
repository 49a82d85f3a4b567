"""The section on the fused margin loss of docs/results.md, from benchmarks/results/kernel."""

import json
from typing import Any

from benchmarks.data import ROOT

RESULTS = ROOT / "benchmarks" / "results" / "kernel"
MISSING = "Not measured: `make bench-kernel`."
BANDWIDTH, RATE = 4.3e12, 790e12  # measured on an H200: bytes and bfloat16 operations a second

Row = dict[str, Any]


def section() -> str:
    """Markdown."""
    speed = result("speed")
    about = f"{speed['machine']['device']}, torch {speed['machine']['torch']}. " if speed else ""
    blocks = [
        "## The margin loss from hidden states",
        f"`make bench-kernel`; {about}bfloat16, margin 4; median of ten; peak memory beyond the "
        "inputs, gradients included.\nInputs are synthetic: survivors are spread over rows as in a "
        "trained model (`benchmarks/kernel_cases.py`); the profile\nthat was met is given. How it "
        "works, and what is not reached: [kernel.md](kernel.md).",
        *(_comparison(name) for name in ("speed", "wide", "worst")),
        _parts(),
        _training(),
        _growth(),
        _grid(),
    ]
    return "\n\n".join(blocks) + "\n"


def result(name: str) -> Row | None:
    """What was measured under this name, if it was."""
    path = RESULTS / f"{name}.json"
    found: Row | None = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return found


def _comparison(name: str) -> str:
    titles = {
        "speed": "as in a trained model",
        "wide": "as in a trained model, a larger vocabulary",
        "worst": "untrained: every token survives",
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
        f"heaviest 2, 5, 10, 20 % of rows hold {held}.\nRows: {kept['rows']['full']:,} made again, "
        f"{kept['rows']['dense'] - kept['rows']['full']:,} multiplied from the record, "
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
    """Where the time of the first comparison goes, beside what the machine could do at best."""
    title = "### Where the time goes"
    measured = result("speed")
    if measured is None or "failed" in measured["parts"]:
        return f"{title}\n\n{MISSING}"
    floors = _floors(measured)
    parts = sorted(measured["parts"].items(), key=lambda part: -part[1])
    rows = [
        f"| {name} | {ms:.2f} | {f'{floors[name]:.2f}' if name in floors else ''} |"
        for name, ms in parts
        if ms >= 0.05
    ]
    total = sum(measured["parts"].values())
    text = (
        f"{title}\n\nMilliseconds on the device, {total:.1f} in all; the rest of the "
        f"{measured['rows']['thresher, Triton']['total_ms']:.1f} ms the device waits for the "
        f"host.\nAt best: operations at {RATE / 1e12:.0f} TFLOP/s, bytes at {BANDWIDTH / 1e12:.1f} "
        "TB/s. Gathers can be faster than that, where vectors are still in the cache."
    )
    return "\n".join([text, "", "| | ms | at best |", "|---|---|---|", *rows])


def _floors(measured: Row) -> dict[str, float]:
    positions, width, vocabulary = measured["shape"]
    rows, gathered = measured["survival"]["rows"], measured["survival"]["gathered"]
    product = 2 * positions * width * vocabulary
    dense = product * (2 * rows["dense"] + rows["full"]) / positions
    return {
        "forward: products": 1e3 * product / RATE,
        "forward: survivors recorded": 1e3 * positions * vocabulary * 4 / BANDWIDTH,
        "backward: products": 1e3 * dense / RATE,
        "backward: light rows gathered": 1e3
        * (2 * gathered * width * 2 + (vocabulary + positions) * width * 2)
        / BANDWIDTH,
    }


def _training() -> str:
    title = "### A training run"
    measured = result("training")
    if measured is None:
        return f"{title}\n\n{MISSING}"
    rows = measured["rows"]
    reference = next(iter(rows.values()))["curve"]
    lines = [
        f"{title}\n\nA transformer of 6 layers, width {measured['width']}, over "
        f"{measured['vocabulary']:,} byte pairs of English, {measured['positions']:,} positions a "
        f"step, {measured['steps']} steps\nfrom the same start over the same batches; losses are "
        "means of 20 steps. Steps include the transformer and the optimiser.",
        "",
        "| | loss, first 20 steps | middle | last | largest difference | step, ms | peak, MiB |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        curve = row["curve"]
        off = max(abs(a - b) / b for a, b in zip(curve, reference, strict=True))
        difference = f"{off:.2%}" if "margin" in name else "another loss"
        lines.append(
            f"| {name} | {curve[0]:.3f} | {curve[len(curve) // 2]:.3f} | {curve[-1]:.3f} | "
            f"{difference} | {row['step_ms']:.1f} | {row['peak_mib']:,.0f} |"
        )
    return "\n".join(lines)


def _growth() -> str:
    measured = result("growth")
    if measured is None:
        return f"### Growth\n\n{MISSING}"
    positions, width, vocabulary = measured["shape"]
    return (
        f"### Growth\n\nAround {positions:,} positions, width {width:,}, vocabulary "
        f"{vocabulary:,}:\n\n![Time and memory over positions, vocabulary and the share that "
        "survives](pictures/kernel-growth.svg)"
    )


def _grid() -> str:
    measured = result("grid")
    if measured is None:
        return f"### Correctness\n\n{MISSING}"
    failed = len(measured["failed"])
    return (
        f"### Correctness\n\n`benchmarks/kernel_grid.py`: {measured['cells']:,} combinations of "
        "dtype, shape, ignored targets, bias, softcap, reduction and margin,\nvalue and gradients "
        "against float64; the error must not exceed that of naive low precision by more than a "
        f"tolerance.\nExceeded in {failed or 'none'}."
    )


if __name__ == "__main__":
    print(section())
