"""The house itself: what may import what, and what the world may rely on."""

import ast
import importlib
import sys
from pathlib import Path

import pytest

import thresher

SOURCE = Path(thresher.__file__).parent

# A room may import the rooms before it; `entities` reaches language models through `encoders`.
ROOMS = "maths text lm encoders gates entities rationales bulk integrations web cli".split()
FORBIDDEN = {
    ("entities", "lm"),
    ("gates", "lm"),
    ("rationales", "lm"),
    ("text", "maths"),
    ("maths", "text"),
}
# Modules beside the rooms that every room may use.
GROUND = {
    *("atomic_files", "checkpoint_files", "deprecation", "errors", "hardware_support"),
    *("lazy_exports", "model_folder", "moved_modules", "progress", "validation"),
    "work_folder",
}


def imported_modules(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
    return names


def modules_of(room: str) -> list[Path]:
    return sorted((SOURCE / room).rglob("*.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_earlier_rooms(room):
    allowed = set(ROOMS[: ROOMS.index(room) + 1]) - {b for a, b in FORBIDDEN if a == room}
    for path in modules_of(room):
        for name in imported_modules(path):
            parts = name.split(".")
            if parts[0] == "thresher" and len(parts) > 1 and parts[1] not in GROUND:
                assert parts[1] in allowed, f"{path.relative_to(SOURCE)} imports {name}"


def test_maths_imports_torch_alone():
    allowed = {"torch", "thresher", *sys.stdlib_module_names}
    for path in modules_of("maths"):
        roots = {name.split(".")[0] for name in imported_modules(path)}
        assert roots <= allowed, f"{path.name} imports {sorted(roots - allowed)}"


def test_text_knows_no_torch():
    for path in modules_of("text"):
        roots = {name.split(".")[0] for name in imported_modules(path)}
        assert not roots & {"torch", "transformers"}, path.name


def test_every_folder_is_a_known_room():
    folders = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert folders <= set(ROOMS)


def test_public_names_are_these():
    public = {
        "thresher": {
            "PriorKnowledge",
            "EntityFinder",
            "InputError",
            "EntitySettings",
            "Span",
            "__version__",
            "read_texts",
        },
    }
    for name, names in public.items():
        module = importlib.import_module(name)
        assert set(module.__all__) == names
        assert names <= set(dir(module))
        for each in names:
            assert getattr(module, each) is not None
    with pytest.raises(AttributeError, match="has no attribute 'Enity'"):
        _ = thresher.Enity
