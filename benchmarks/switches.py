"""What each switch of the objective is worth, and each baseline: a row each, three seeds.

    python -m benchmarks.switches --jobs 8 [--only default "align 2"] [--seeds 0 1 2]
    python -m benchmarks.switches --split report

Trains on a third of the raw English and evaluates on the tune splits; `--split report` trains
nothing and evaluates what is in --models on the report splits. Every row and seed is a JSON file
in benchmarks/results/switches, named by row, seed, split, code and machine; those that are there
are skipped. `benchmarks.switches_drawing` and `benchmarks.switches_section` read them.
"""

import argparse
import hashlib
import json
import multiprocessing
import platform
import re
import resource
import tempfile
import time
import traceback
from collections.abc import Iterable
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from benchmarks.data import REPORT, ROOT, TUNE, Gold, gold, raw_english
from benchmarks.switches_measure import (
    Figures,
    baseline_figures,
    example_gates,
    finder_figures,
    selector_aps,
)
from benchmarks.switches_rows import BASELINES, ROWS, Row
from benchmarks.switches_vectors import encode_once, encoded, the_encoder
from thresher.encoders import Encoder
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.text_finder import Document
from thresher.entities.model import FinderModel
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.fit import conclude, long_enough
from thresher.entities.training.loop import Corpus, train
from thresher.entities.training.raw_text import RawText
from thresher.entities.training.settings import EntitySettings
from thresher.entities.training.state import EpochReport, TrainingState
from thresher.gates.features import Features
from thresher.gates.selector import Selector

RESULTS = ROOT / "benchmarks" / "results" / "switches"
MODELS = ROOT / "benchmarks" / "switch-models"
_CODE = ("encoders", "entities", "maths", "text")  # rooms that figures depend on


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
    """What all jobs share. The parent process holds it and never touches the GPU."""

    split: str
    encoder: str | None
    results: Path
    models: Path
    work: Path
    sentences: Document
    sets: list[Gold]
    raw: dict[tuple[str, ...], RawText]
    code: str


_shared: dict[str, Bench] = {}  # set before the worker processes are forked
_loaded: dict[str, Encoder] = {}  # of a worker process


def a_third(sentences: list[list[str]], *, block: int = 100) -> list[list[str]]:
    """One block of sentences in three: what is near each other stays so."""
    return [words for i, words in enumerate(sentences) if i // block % 3 == 0]


def code_version() -> str:
    """A digest of the code that figures depend on."""
    digest = hashlib.sha256()
    for room in _CODE:
        for path in sorted((ROOT / "src" / "thresher" / room).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:10]


def machine() -> str:
    if torch.cuda.is_available():
        return torch.cuda.get_device_name().replace(" ", "-")
    return f"{platform.machine()}-CPU"


def finished(bench: Bench, job: Job) -> bool:
    """Whether there is a result of the job, from any machine."""
    return any(bench.results.glob(f"{job.name}-{job.split}-{bench.code}-*.json"))


def run_job(job: Job) -> str:
    """Train or load, measure, and leave a JSON; returns a line to print."""
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
    where, code = result.setdefault("machine", machine()), result.setdefault("code", bench.code)
    path = bench.results / f"{job.name}-{job.split}-{code}-{where}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    cells = " ".join(
        f"{name} {by_case['cased']['word_ap']:.3f} {by_case['cased']['span_f1']:.3f}"
        f"/{by_case['lower']['span_f1']:.3f}"
        for name, by_case in result["sets"].items()
    )
    return f"{job.name:32s} {time.perf_counter() - started:6.1f} s  {cells}"


def _trained_result(bench: Bench, job: Job, encoder: Encoder) -> dict[str, object]:
    row = ROWS[job.row]
    settings = row.settings(job.seed)
    raw = bench.raw[tuple(row.beliefs.priors)]
    text = encoded("raw", bench.sentences, settings.features, bench.work)
    corpus = Corpus(bench.sentences, text.vectors, raw.prior[text.units.word], text.units)
    started = time.perf_counter()
    selectors, reports = _trained(encoder, corpus, settings)
    fitted = conclude(raw, corpus, selectors, reports, encoder.device)
    model = FinderModel.fitted(encoder, fitted, settings, row.beliefs, bench.sentences)
    training = {
        "code": bench.code,
        "machine": machine(),
        "trained_on": len(bench.sentences),
        "seconds": round(time.perf_counter() - started, 1),
        "encoding_seconds": text.seconds,
        **_peaks(),
        "settings": asdict(settings),
        "terms": reports[-1].terms,
        "selected": reports[-1].selected,
    }
    model.write(bench.models / job.name)
    sidecar = bench.models / f"{job.name}.json"
    sidecar.write_text(json.dumps(training, indent=1) + "\n", encoding="utf-8")
    return {**training, **_measured(bench, EntityFinder(encoder, model))}


def _trained(
    encoder: Encoder, corpus: Corpus, settings: EntitySettings
) -> tuple[list[Selector], list[EpochReport]]:
    settings = long_enough(settings, len(corpus.sentences))
    width = settings.features.width(encoder)
    reports: list[EpochReport] = []
    state = TrainingState.new(settings, width, encoder.device)
    selectors = train(state, encoder, corpus, settings, after_epoch=reports.append)
    return selectors, reports


def _loaded_result(bench: Bench, job: Job, encoder: Encoder) -> dict[str, object]:
    """Figures of a model that the tune split trained, under the code and machine of that."""
    model = FinderModel.read(bench.models / job.name)
    training = json.loads((bench.models / f"{job.name}.json").read_text(encoding="utf-8"))
    return {**training, **_measured(bench, EntityFinder(encoder, model))}


def _measured(bench: Bench, finder: EntityFinder) -> dict[str, object]:
    sets: dict[str, dict[str, Figures]] = {}
    aps: dict[str, list[float]] = {}
    for data in bench.sets:
        vectors = encoded(data.name, data.sentences, finder.model.features, bench.work)
        sets[data.name] = finder_figures(finder, data, vectors)
        aps[data.name] = selector_aps(finder, data, vectors)
    return {
        "threshold": finder.threshold,
        "trust": asdict(finder.model.trust),
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
    return {"seconds": seconds, **_peaks(), "threshold": baseline.threshold, "sets": sets}


def _peaks() -> dict[str, float]:
    """Of this process so far, in GB; on the GPU of this job alone."""
    peaks = {"peak_ram_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)}
    if torch.cuda.is_available():
        peaks["peak_gpu_gb"] = round(torch.cuda.max_memory_allocated() / 1e9, 2)
    return peaks


def _encoder(bench: Bench) -> Encoder:
    """The encoder of this process, which its jobs share."""
    if "encoder" not in _loaded:
        torch.set_num_threads(1)
        torch.set_float32_matmul_precision("high")  # TF32 on a GPU; vectors are kept in float16
        _loaded["encoder"] = the_encoder(bench.encoder)
    return _loaded["encoder"]


def _encode(name: str, features: Features) -> str:
    bench = _shared["bench"]
    sentences = dict([("raw", bench.sentences), *((s.name, s.sentences) for s in bench.sets)])
    encode_once(_encoder(bench), name, sentences[name], features, bench.work)
    return f"encoded {name}, {features.unit}s, attention {features.attention}"


def _common_words() -> frozenset[str]:
    return _encoder(_shared["bench"]).common_words


def _pool(jobs: int) -> ProcessPoolExecutor:
    """Forked processes, which share what the parent has read."""
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("fork"))


def _print_lines(done: Iterable[Future[str]]) -> None:
    """The line of each task as it ends; one that fails leaves the others to go on."""
    for each in as_completed(done):
        try:
            print(each.result(), flush=True)
        except Exception:
            traceback.print_exc()


def run(bench: Bench, pending: list[Job], jobs: int) -> None:
    """Encode and read beside each other; then the jobs."""
    _shared["bench"] = bench
    rows = [ROWS[job.row] for job in pending if job.row in ROWS]
    needed = {row.settings(0).features for row in rows}
    names = [*(["raw"] if bench.split == "tune" else []), *(data.name for data in bench.sets)]
    with _pool(jobs) as pool:
        common = pool.submit(_common_words)
        encoding = [pool.submit(_encode, name, each) for name in names for each in needed]
        if bench.split == "tune" and rows:
            _read_raw_text(bench, rows, common.result())
        _print_lines(encoding)
    with _pool(jobs) as pool:
        _print_lines([pool.submit(run_job, job) for job in pending])


def _read_raw_text(bench: Bench, rows: list[Row], common: frozenset[str]) -> None:
    """What the rows believe of the raw text; they differ in their priors alone."""
    settings = EntitySettings()
    text = RawText.of(bench.sentences, PriorKnowledge(), settings, common=common)
    for row in rows:
        key = tuple(row.beliefs.priors)
        if key not in bench.raw:
            prior = row.beliefs.opinions(bench.sentences, text.statistics, settings)
            bench.raw[key] = replace(text, prior=prior)
            print(f"read raw text, priors {', '.join(key)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [*ROWS, *BASELINES]
    parser.add_argument("--only", nargs="*", default=names, choices=names, metavar="ROW")
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--split", choices=["tune", "report"], default="tune")
    parser.add_argument("--jobs", type=int, default=1, help="processes beside one another")
    parser.add_argument("--encoder", default=None, help="a folder with the encoder's weights")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--models", type=Path, default=MODELS)
    parser.add_argument("--work", type=Path, default=None, help="keep vectors there")
    parser.add_argument("--sentences", type=int, default=None, help="a trial on so many")
    options = parser.parse_args()
    for folder in (options.results, options.models):
        folder.mkdir(parents=True, exist_ok=True)
    sets = gold(REPORT if options.split == "report" else TUNE)
    sentences = a_third(raw_english())
    if options.sentences:
        sentences = sentences[:: -(-len(sentences) // options.sentences)]
        sets = [Gold(s.name, s.sentences[:200], s.spans[:200]) for s in sets]
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        bench = Bench(
            split=options.split,
            encoder=options.encoder,
            results=options.results,
            models=options.models,
            work=work,
            sentences=sentences,
            sets=sets,
            raw={},
            code=code_version(),
        )
        jobs = [
            Job(row, seed, options.split)
            for seed in options.seeds
            for row in options.only
            if row in ROWS or seed == options.seeds[0]  # a baseline draws nothing
        ]
        pending = [job for job in jobs if not finished(bench, job)]
        print(f"{len(jobs)} rows and seeds, {len(pending)} to do; code {bench.code}", flush=True)
        run(bench, pending, options.jobs)


if __name__ == "__main__":
    main()
