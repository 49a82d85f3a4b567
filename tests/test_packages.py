"""Which package may import which, and which names are public."""

import ast
import importlib
import sys
from pathlib import Path

import pytest

import thresher

SOURCE = Path(thresher.__file__).parent

# A package may import the packages before it.
PACKAGES = "maths text lm encoders gates entities rationales bulk integrations web cli".split()
# Exceptions: `entities`, for example, uses language models only through `encoders`.
FORBIDDEN = {
    ("entities", "lm"),
    ("gates", "lm"),
    ("rationales", "lm"),
    ("text", "maths"),
    ("maths", "text"),
}
# Modules beside the packages, which every package may use.
SHARED_MODULES = {
    *("array_files", "atomic_files", "checkpoint_files", "errors", "hardware_support"),
    *("lazy_exports", "model_folder", "progress", "validation"),
    *("output_lock", "tensor_files", "training_processes", "untrusted_files", "work_folder"),
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


def modules_of(package: str) -> list[Path]:
    return sorted((SOURCE / package).rglob("*.py"))


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_earlier_packages(package):
    allowed = set(PACKAGES[: PACKAGES.index(package) + 1]) - {
        b for a, b in FORBIDDEN if a == package
    }
    for path in modules_of(package):
        for name in imported_modules(path):
            parts = name.split(".")
            if parts[0] == "thresher" and len(parts) > 1 and parts[1] not in SHARED_MODULES:
                assert parts[1] in allowed, f"{path.relative_to(SOURCE)} imports {name}"


def test_maths_imports_only_torch():
    allowed = {"torch", "thresher", *sys.stdlib_module_names}
    for path in modules_of("maths"):
        roots = {name.split(".")[0] for name in imported_modules(path)}
        assert roots <= allowed, f"{path.name} imports {sorted(roots - allowed)}"


def test_text_does_not_import_torch():
    for path in modules_of("text"):
        roots = {name.split(".")[0] for name in imported_modules(path)}
        assert not roots & {"torch", "transformers"}, path.name


def test_every_folder_is_a_known_package():
    folders = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert folders <= set(PACKAGES)


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
