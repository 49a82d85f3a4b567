"""Load model folders with random changes in every file: each is refused with one line, or works.

The changes are drawn with a seed from all values of the JSON files, all tensors and all files of
six small models. The digests are written again afterwards, as an attacker would do.
"""

import contextlib
import copy
import hashlib
import json
import os
import random
import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save

from benchmarks.data import ROOT
from benchmarks.faults.cases import write_encoder
from thresher import EntityFinder
from thresher.encoders import load_encoder
from thresher.entities.built_in import find_model_folder
from thresher.errors import InputError
from thresher.lm.sampling import sample_text
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.rationales.finder import RationaleFinder

SAVED = ROOT / "tests" / "fixtures" / "version-0.1"
MAX_GROWTH = 1 << 29  # bytes of address space
MAX_SECONDS = 10  # of CPU time
TEXT = "Marie Curie left Paris in the rain. Nobody knew why."

Change = Callable[[Path], object]
Use = Callable[[Path], object]


def _find(folder: Path) -> object:
    return EntityFinder.load(folder, device="cpu").find(TEXT)


def _sample(folder: Path) -> object:
    model = TrainedLanguageModel.read(folder)
    return sample_text(model, prompt="a", length=5, generator=torch.Generator().manual_seed(0))


def _encode(folder: Path) -> object:
    encoder = load_encoder(str(folder), device="cpu")
    return encoder.encode(encoder.batch([TEXT.split()]))


# How a folder of each kind is used after it has been loaded.
KINDS: dict[str, Use] = {
    "finder": _find,
    "static": _find,
    "language-model": _sample,
    "byte-pair-language-model": _sample,
    "rationale": lambda folder: RationaleFinder.load(folder, device="cpu").explain(TEXT),
    "bert": _encode,
}
_VALUES: tuple[Any, ...] = (
    *(-1, 0, 1, 2, 7, 10**6, 10**12, 10**30, -(10**18), 0.5, float("nan"), float("inf"), 1e-300),
    *("", "x", "16", "\x00", "../..", "/dev/zero", [], [[]], {}, None, True, [1, 2, 3], {"a": []}),
)


def load_hostile_folders(count: int, folder: Path, *, seed: int = 0) -> list[dict[str, Any]]:
    """Return a row of results for each kind of model; `count` folders are divided among them."""
    rows = []
    for kind, use in KINDS.items():
        draw = random.Random(f"{seed} {kind}")
        valid = _valid_folder(kind, folder)
        if (report := _outcome(valid, use)) != "loaded":
            raise RuntimeError(f"the unchanged {kind} does not load: {report}")
        row: dict[str, Any] = {"kind": kind, "folders": 0, "refused": 0, "loaded": 0, "losses": []}
        for _ in range(-(-count // len(KINDS))):
            name, change = draw.choice(list(_changes(valid, draw)))
            hostile = folder / "hostile" / valid.name
            shutil.rmtree(folder / "hostile", ignore_errors=True)
            shutil.copytree(valid.parent, folder / "hostile")
            change(hostile)
            sign(hostile)
            outcome = _outcome(hostile, use)
            row["folders"] += 1
            if outcome in ("refused", "loaded"):
                row[outcome] += 1
            else:
                row["losses"].append(f"{kind}: {name}: {outcome}")
                print(row["losses"][-1], flush=True)
        rows.append(row)
        print(row, flush=True)
    return rows


def _valid_folder(kind: str, folder: Path) -> Path:
    """Return a valid model in a folder of its own, with what it needs beside it."""
    place = folder / f"valid-{kind}"
    if (SAVED / kind).exists():
        shutil.copytree(SAVED, place)
        return place / kind
    place.mkdir()
    if kind == "static":
        return Path(shutil.copytree(find_model_folder("fast-english"), place / kind))
    write_encoder(place / kind)
    return place / kind


def _outcome(folder: Path, use: Use) -> str:
    """Use a folder in a child with bounded memory and time; return refused, loaded or a problem."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        report = "ended without a report"
        try:
            _limit()
            report = _report(folder, use)
        finally:
            os.write(writing, report.encode(errors="replace")[:2000])
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        report = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return report if status == 0 else f"ended with status {os.waitstatus_to_exitcode(status)}"


def _limit() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + MAX_GROWTH
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)


def _report(folder: Path, use: Use) -> str:
    try:
        with torch.no_grad():
            use(folder)
    except InputError as error:
        message = str(error)
        if len(message.splitlines()) != 1:
            return f"a message of several lines: {message}"
        return "memory ran out" if "alloc" in message or "MemoryError" in message else "refused"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "loaded"


def _changes(folder: Path, draw: random.Random) -> Iterator[tuple[str, Change]]:
    """Yield a change of each group: one JSON value, one tensor, one file."""
    files = sorted(path.name for path in folder.iterdir() if path.name != "README.md")
    documents = [name for name in files if name.endswith(".json")]
    weights = [name for name in files if name.endswith(".safetensors")]
    for _ in range(4):
        yield _json_change(folder, draw.choice(documents), draw)
    if weights:
        for _ in range(3):
            yield _tensor_change(folder, draw.choice(weights), draw)
    yield _file_change(draw.choice(files), draw)


def _json_change(folder: Path, name: str, draw: random.Random) -> tuple[str, Change]:
    """Replace or remove one value, at any depth."""
    document = json.loads((folder / name).read_text(encoding="utf-8"))
    places = list(_places(document))
    if not places:
        return _file_change(name, draw)
    place, value = draw.choice(places), draw.choice(_VALUES)
    removed = draw.random() < 0.15

    def change(target: Path) -> None:
        inner = changed = copy.deepcopy(document)
        for key in place[:-1]:
            inner = inner[key]
        if removed:
            del inner[place[-1]]
        else:
            inner[place[-1]] = value
        (target / name).write_text(json.dumps(changed), encoding="utf-8")

    return f"{name}: {place} {'removed' if removed else f'= {value!r}'}", change


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the keys that lead to each value; of long lists and tables only the first few."""
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = list(value)[:40]
    elif isinstance(value, list):
        keys = list(range(min(3, len(value))))
    for key in keys:
        yield (*place, key)
        yield from _places(value[key], (*place, key))


def _tensor_change(folder: Path, name: str, draw: random.Random) -> tuple[str, Change]:
    """Change the values, the shape, the dtype or the name of one tensor."""
    tensors = load_file(folder / name)
    key = draw.choice(sorted(tensors))
    old = tensors[key]
    kinds: dict[str, Callable[[], dict[str, torch.Tensor]]] = {
        "NaN": lambda: {key: _with(old, float("nan"))},
        "infinite": lambda: {key: _with(old, float("inf"))},
        "huge values": lambda: {key: _with(old, 1e38)},
        "empty": lambda: {key: old.new_zeros(0)},
        "scalar": lambda: {key: old.new_zeros(())},
        "wider": lambda: {key: old.new_zeros((*old.shape, 3))},
        "taller": lambda: {key: torch.cat([old.view(len(old), -1)] * 3) if old.dim() else old},
        "transposed": lambda: {key: old.T.contiguous() if old.dim() == 2 else old.flip(0)},
        "float64": lambda: {key: old.double()},
        "int64": lambda: {key: old.long()},
        "bool": lambda: {key: old.bool()},
        "renamed": lambda: {f"{key}.more": old},
        "surplus": lambda: {"surplus": torch.ones(3)},
        "a million rows": lambda: {key: torch.zeros(10**6, 1)},
    }
    kind = draw.choice(sorted(kinds))

    def change(target: Path) -> None:
        changed = dict(tensors) | kinds[kind]()
        if kind == "renamed":
            del changed[key]
        (target / name).write_bytes(save(changed, metadata={"format": "pt"}))

    return f"{name}: {key} {kind}", change


def _with(tensor: torch.Tensor, value: float) -> torch.Tensor:
    """Return a copy with one other element; integers get their largest value."""
    changed = tensor.clone()
    if changed.numel():
        last = torch.finfo(changed.dtype) if changed.is_floating_point() else None
        changed.view(-1)[-1] = value if last else torch.iinfo(changed.dtype).max
    return changed


def _file_change(name: str, draw: random.Random) -> tuple[str, Change]:
    """Remove a file, damage its bytes, or put something else in its place."""
    seed = draw.random()

    def damage(path: Path) -> None:
        content = bytearray(path.read_bytes() or b"x")
        noise = random.Random(seed)
        for _ in range(8):
            content[noise.randrange(len(content))] = noise.randrange(256)
        path.write_bytes(content)

    def replaced(make: Callable[[Path], object]) -> Change:
        def change(path: Path) -> None:
            path.unlink()
            make(path)

        return change

    kinds: dict[str, Change] = {
        "removed": lambda path: path.unlink(),
        "empty": lambda path: os.truncate(path, 0),
        "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
        "grown": lambda path: os.truncate(path, 1 << 42),
        "damaged": damage,
        "FIFO": replaced(os.mkfifo),
        "folder": replaced(lambda path: path.mkdir()),
        "device": replaced(lambda path: path.symlink_to("/dev/zero")),
        "link to itself": replaced(lambda path: path.symlink_to(path.name)),
        "not UTF-8": lambda path: path.write_bytes(b"\xff\xfe\x00" * 40),
        "deep": lambda path: path.write_bytes(b"[" * 20_000),
    }
    kind = draw.choice(sorted(kinds))
    return f"{name}: {kind}", lambda folder: kinds[kind](folder / name)


def sign(folder: Path) -> None:
    """Write the digests of the changed files into config.json, if it can have any."""
    path = folder / "config.json"
    with contextlib.suppress(OSError, ValueError, RecursionError, LookupError, TypeError):
        if not path.is_file() or path.stat().st_size > 1 << 20:
            return
        content = json.loads(path.read_bytes())
        for name in content["sha256"]:
            file = folder / name
            if file.is_file() and file.stat().st_size < 1 << 30:
                content["sha256"][name] = hashlib.sha256(file.read_bytes()).hexdigest()
        path.write_text(json.dumps(content))
