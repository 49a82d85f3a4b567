"""Run the jobs of the variant benchmark: train or load a finder and measure it."""

import json
import multiprocessing
import re
import time
import traceback
from collections.abc import Iterable
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from benchmarks.data import ROOT, Gold
from benchmarks.encoder import default_encoder
from benchmarks.machine import digest, machine_name, peak_memory
from benchmarks.variants.measure import (
    Figures,
    baseline_figures,
    example_gates,
    finder_figures,
    selector_aps,
)
from benchmarks.variants.rows import BASELINES, ROWS, Row
from benchmarks.variants.vectors import encode_once, load_encoded
from benchmarks.variants.written_design import WRITTEN_ROWS
from thresher.encoders import Encoder
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.text_finder import SplitText
from thresher.entities.model import FinderModel
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.fit import build_model, calibrate_selectors, with_min_steps
from thresher.entities.training.loop import TrainingCorpus, train_selectors
from thresher.entities.training.raw_text import RawText
from thresher.entities.training.settings import EntitySettings
from thresher.entities.training.state import EpochReport, TrainingState
from thresher.gates.features import Features
from thresher.gates.selector import Selector

MODELS = ROOT / "benchmarks" / "variant-models"
ALL_ROWS = ROWS | WRITTEN_ROWS
_CODE = ("encoders", "entities", "gates", "maths", "text")  # packages the figures depend on


@dataclass(frozen=True)
class Job:
    """One row with one seed on one split."""

    row: str
    seed: int
    split: str

    @property
    def name(self) -> str:
        return f"{re.sub('[^a-z0-9.]+', '-', self.row.lower())}-{self.seed}"


@dataclass(frozen=True)
class Bench:
    """What all jobs share. The parent process holds it and never uses the GPU.

    work: folder for encoded sentences
    raw: prepared raw text by the priors of a row
    """

    split: str
    encoder: str | None
    results: Path
    models: Path
    work: Path
    sentences: SplitText
    sets: list[Gold]
    raw: dict[tuple[str, ...], RawText]
    code: str


_shared: dict[str, Bench] = {}  # set before the worker processes are forked
_loaded: dict[str, Encoder] = {}  # one encoder per worker process


def code_version() -> str:
    """Return a digest of the code that the figures depend on."""
    packages = (ROOT / "src" / "thresher" / name for name in _CODE)
    return digest(path for package in packages for path in sorted(package.rglob("*.py")))


def is_finished(bench: Bench, job: Job) -> bool:
    """Return True if there is a result of the job, from any machine."""
    return any(bench.results.glob(f"{job.name}-{job.split}-{bench.code}-*.json"))


def run_job(job: Job) -> str:
    """Train or load a finder, measure it, write the JSON; return a line to print."""
    bench = _shared["bench"]
    encoder = _encoder(bench)
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    started = time.perf_counter()
    if job.row in BASELINES:
        result: dict[str, Any] = _baseline_result(bench, job, encoder)
    elif job.split == "tune":
        result = _trained_result(bench, job, encoder)
    else:
        result = _loaded_result(bench, job, encoder)
    result = {"row": job.row, "seed": job.seed, "split": job.split, **result}
    where, code = (
        result.setdefault("machine", machine_name()),
        result.setdefault("code", bench.code),
    )
    path = bench.results / f"{job.name}-{job.split}-{code}-{where}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    cells = " ".join(
        f"{name} {by_case['cased']['word_ap']:.3f} {by_case['cased']['span_f1']:.3f}"
        f"/{by_case['lower']['span_f1']:.3f}"
        for name, by_case in result["sets"].items()
    )
    return f"{job.name:32s} {time.perf_counter() - started:6.1f} s  {cells}"


def _trained_result(bench: Bench, job: Job, encoder: Encoder) -> dict[str, object]:
    row = ALL_ROWS[job.row]
    settings = row.settings(job.seed)
    raw = bench.raw[tuple(row.prior_knowledge.priors)]
    text = load_encoded("raw", bench.sentences, settings.features, bench.work)
    corpus = TrainingCorpus(bench.sentences, text.vectors, text.units, raw.prior[text.units.word])
    started = time.perf_counter()
    selectors, reports = _trained(encoder, corpus, settings)
    fitted = calibrate_selectors(raw, corpus, selectors, encoder)
    model = build_model(fitted, settings, row.prior_knowledge, bench.sentences)
    training = {
        "code": bench.code,
        "machine": machine_name(),
        "trained_on": len(bench.sentences),
        "seconds": round(time.perf_counter() - started, 1),
        "encoding_seconds": text.seconds,
        **peak_memory(),
        "settings": asdict(settings),
        "terms": reports[-1].terms,
        "selected": reports[-1].selected,
    }
    model.write(bench.models / job.name)
    sidecar = bench.models / f"{job.name}.json"
    sidecar.write_text(json.dumps(training, indent=1) + "\n", encoding="utf-8")
    return {**training, **_figures(bench, EntityFinder(encoder, model))}


def _trained(
    encoder: Encoder, corpus: TrainingCorpus, settings: EntitySettings
) -> tuple[list[Selector], list[EpochReport]]:
    settings = with_min_steps(settings, len(corpus.sentences))
    width = settings.features.width(encoder)
    reports: list[EpochReport] = []
    state = TrainingState.new(settings, width, encoder.device)
    selectors = train_selectors(state, encoder, corpus, settings, after_epoch=reports.append)
    return selectors, reports


def _loaded_result(bench: Bench, job: Job, encoder: Encoder) -> dict[str, object]:
    """Measure a model that was trained by a run with split `tune`; keep its code and machine."""
    model = FinderModel.read(bench.models / job.name)
    training = json.loads((bench.models / f"{job.name}.json").read_text(encoding="utf-8"))
    return {**training, **_figures(bench, EntityFinder(encoder, model))}


def _figures(bench: Bench, finder: EntityFinder) -> dict[str, object]:
    sets: dict[str, dict[str, Figures]] = {}
    aps: dict[str, list[float]] = {}
    for data in bench.sets:
        vectors = load_encoded(data.name, data.sentences, finder.model.features, bench.work)
        sets[data.name] = finder_figures(finder, data, vectors)
        aps[data.name] = selector_aps(finder, data, vectors)
    return {
        "threshold": finder.threshold,
        "trust": asdict(finder.model.signal_weights),
        "entity": finder.model.entity,
        "selector_aps": aps,
        "example": example_gates(finder),
        "sets": sets,
    }


def _baseline_result(bench: Bench, job: Job, encoder: Encoder) -> dict[str, object]:
    started = time.perf_counter()
    baseline = BASELINES[job.row](encoder, bench.sentences)
    sets = {data.name: baseline_figures(baseline, data) for data in bench.sets}
    seconds = round(time.perf_counter() - started, 1)
    return {"seconds": seconds, **peak_memory(), "threshold": baseline.threshold, "sets": sets}


def _encoder(bench: Bench) -> Encoder:
    """Return the encoder of this process, which its jobs share."""
    if "encoder" not in _loaded:
        torch.set_num_threads(1)
        torch.set_float32_matmul_precision("high")  # TF32 on a GPU; vectors are kept in float16
        _loaded["encoder"] = default_encoder(bench.encoder)
    return _loaded["encoder"]


def _encode(name: str, features: Features) -> str:
    bench = _shared["bench"]
    sentences = dict([("raw", bench.sentences), *((s.name, s.sentences) for s in bench.sets)])
    encode_once(_encoder(bench), name, sentences[name], features, bench.work)
    return f"encoded {name}, {features.unit}s, attention {features.attention}"


def _common_words() -> frozenset[str]:
    return _encoder(_shared["bench"]).common_words


def _pool(jobs: int) -> ProcessPoolExecutor:
    """Return a pool of forked processes, which share the data of the parent."""
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("fork"))


def _print_lines(done: Iterable[Future[str]]) -> None:
    """Print the line of each task when it ends; the others continue after one has failed."""
    for each in as_completed(done):
        try:
            print(each.result(), flush=True)
        except Exception:
            traceback.print_exc()


def run(bench: Bench, pending: list[Job], jobs: int) -> None:
    """Encode all sentences and prepare the raw text at the same time; then run the jobs."""
    _shared["bench"] = bench
    rows = [ALL_ROWS[job.row] for job in pending if job.row in ALL_ROWS]
    needed = {row.settings(0).features for row in rows}
    names = [*(["raw"] if bench.split == "tune" else []), *(data.name for data in bench.sets)]
    with _pool(jobs) as pool:
        common = pool.submit(_common_words)
        encoding = [pool.submit(_encode, name, each) for name in names for each in needed]
        if bench.split == "tune" and rows:
            _prepare_raw_text(bench, rows, common.result())
        _print_lines(encoding)
    with _pool(jobs) as pool:
        _print_lines([pool.submit(run_job, job) for job in pending])


def _prepare_raw_text(bench: Bench, rows: list[Row], common: frozenset[str]) -> None:
    """Compute the prior probabilities of every row; rows differ only in their priors."""
    settings = EntitySettings()
    text = RawText.analyse(bench.sentences, PriorKnowledge(), settings, common=common)
    for row in rows:
        key = tuple(row.prior_knowledge.priors)
        if key not in bench.raw:
            prior = row.prior_knowledge.prior_probabilities(
                bench.sentences, text.statistics, settings
            )
            bench.raw[key] = replace(text, prior=prior)
            print(f"prepared raw text, priors {', '.join(key)}", flush=True)
