"""Example names of kinds: read from a TOML or JSON file, checked, written."""

import codecs
import json
import re
import reprlib
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from thresher.entities.choices import KindsWord
from thresher.errors import InputError
from thresher.text.formats.tags import ENTITY_LABEL
from thresher.text.sentences import segment
from thresher.untrusted_files import parse_json, read_regular

MAX_NAMES = 1000  # of one kind; 3 to 30 are enough
MAX_KINDS = 1000
MAX_NAME = 1000  # characters of a name
_MAX_FILE_BYTES = 4 << 20
_JOINERS = "\u200c\u200d"  # which words of Persian, Hindi and other languages contain
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")  # which TOML allows without quotation marks
_NOT_IN_A_KEY = frozenset("\"'#[]{},")  # without quotation marks
ENGLISH = "english.toml"


@dataclass(frozen=True)
class KindExamples:
    """The kinds of a finder, each with some names that are examples of it.

    names: for each kind its names, without duplicates
    """

    names: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        if not isinstance(self.names, Mapping) or not self.names:
            raise InputError('`kinds` has no kinds; write lines such as person = ["Marie Curie"]')
        if len(self.names) > MAX_KINDS:
            raise InputError(f"`kinds` has {len(self.names):,} kinds; at most {MAX_KINDS} are used")
        checked: dict[str, tuple[str, ...]] = {}
        kind_of_name: dict[str, str] = {}
        for kind, names in self.names.items():
            checked[kind] = _checked_names(kind, names)
            for name in checked[kind]:
                other = kind_of_name.setdefault(folded_name(name), kind)
                if other != kind:
                    raise InputError(
                        f"{name!r} is listed under two kinds, {other} and {kind}; keep one of them"
                    )
        object.__setattr__(self, "names", checked)

    @classmethod
    def read(cls, path: str | Path) -> "KindExamples":
        """Read a TOML or JSON file that has a list of names for each kind."""
        path = Path(path)
        content = read_regular(path, max_bytes=_MAX_FILE_BYTES)
        try:
            return cls(_parsed(content, path))
        except InputError as error:
            message = str(error).replace("`kinds`", "the file")
            raise InputError(message if str(path) in message else f"{path}: {message}") from error

    @classmethod
    def english(cls) -> "KindExamples":
        """Return the kinds of the built-in English models."""
        content = (files("thresher.entities.kinds") / ENGLISH).read_text(encoding="utf-8")
        return cls(tomllib.loads(content))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of the kinds, in the order in which they were given."""
        return tuple(self.names)

    def listed(self) -> dict[tuple[str, ...], int]:
        """Return the case-folded words of each name, with the number of its kind."""
        return {
            tuple(map(str.casefold, name_words(name))): number
            for number, names in enumerate(self.names.values())
            for name in names
        }

    def to_toml(self, remarks: Mapping[str, str] | None = None) -> str:
        """Return the content of a TOML file.

        remarks: for some kinds, a comment of one line
        """
        blocks = []
        for kind, names in self.names.items():
            comment = f"# {remarks[kind]}\n" if remarks and kind in remarks else ""
            lines = "".join(f"    {_toml_string(name)},\n" for name in names)
            key = kind if _BARE_KEY.fullmatch(kind) else _toml_string(kind)
            blocks.append(f"{comment}{key} = [\n{lines}]\n")
        return "\n".join(blocks)


def as_examples(kinds: "KindExamples | Mapping[str, Iterable[str]] | str | Path") -> KindExamples:
    """Return example names that were given as such, as a mapping, or as the path of a file."""
    if isinstance(kinds, KindExamples):
        return kinds
    if isinstance(kinds, str | Path):
        return KindExamples.read(kinds)
    return KindExamples(kinds)  # type: ignore[arg-type]


def folded_name(name: str) -> str:
    """Return a name as it is compared with others: case-folded, with single spaces."""
    return " ".join(name.casefold().split())


def name_words(name: str) -> list[str]:
    """Return the words of a name."""
    return [word for sentence in segment(name) for word in sentence.texts]


def check_kind_name(kind: Any) -> None:
    """Raise InputError unless the name of a kind is one word of printable characters."""
    if not isinstance(kind, str) or not kind.strip():
        raise InputError(f"a kind must have a name, got {reprlib.repr(kind)}")
    if any(each.isspace() or not (each.isprintable() or each in _JOINERS) for each in kind):
        raise InputError(f"the name of a kind must be one word, got {reprlib.repr(kind)}")


def _check_new_kind_name(kind: Any) -> None:
    """Check the name of a kind as `check_kind_name` does; refuse what options could not name."""
    check_kind_name(kind)
    if "," in kind:
        raise InputError(f"the name of a kind must have no comma, got {reprlib.repr(kind)}")
    if kind.casefold() == KindsWord.NONE or kind == ENTITY_LABEL:
        raise InputError(f"a kind cannot have the name {kind}, which means without a kind")


def _checked_names(kind: Any, names: Any) -> tuple[str, ...]:
    """Return the names of a kind without duplicates; raise InputError if they are not names."""
    _check_new_kind_name(kind)
    if isinstance(names, str | bytes | Mapping) or not isinstance(names, Iterable):
        raise InputError(f"the kind {kind} must have a list of names, got {reprlib.repr(names)}")
    names = list(names)
    if not names:
        raise InputError(f"the kind {kind} has no names; give it 3 to 30 examples")
    if len(names) > MAX_NAMES:
        raise InputError(f"the kind {kind} has {len(names):,} names; at most {MAX_NAMES} are used")
    for name in names:
        _check_name(kind, name)
    return tuple({folded_name(name): name for name in reversed(names)}.values())[::-1]


def _check_name(kind: str, name: Any) -> None:
    """Raise InputError unless an example of a kind is a name of usual length."""
    if isinstance(name, str) and len(name) > MAX_NAME:
        raise InputError(
            f"the kind {kind} has a name of {len(name):,} characters; at most {MAX_NAME} are used"
        )
    if not isinstance(name, str) or not any(map(str.isalnum, name)) or not name_words(name):
        got = reprlib.repr(name)
        raise InputError(f"the kind {kind} must have a list of names, got {got} in it")


def _parsed(content: bytes, path: Path) -> Any:
    content = content.removeprefix(codecs.BOM_UTF8)  # which some editors write
    if not content.strip():
        raise InputError(f"{path} is empty")
    if path.suffix.lower() == ".json" or content.lstrip().startswith(b"{"):
        return parse_json(content, str(path), unique_keys=True)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a text in UTF-8") from error
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise InputError(f"{path} is not valid TOML: it is nested too deeply") from error
    except ValueError as error:
        raise InputError(f"{path} is not valid TOML: {error}; {_toml_hint(text)}") from error


def _toml_hint(toml: str) -> str:
    """Return what to do about invalid TOML, often about the name of a kind."""
    starts = [line.split("=", 1)[0].strip() for line in toml.splitlines() if "=" in line]
    keys = Counter(start for start in starts if start and _NOT_IN_A_KEY.isdisjoint(start))
    for key, count in keys.items():
        if len(key.split()) > 1:
            return f"the name of a kind must be one word, such as {'-'.join(key.split())}"
        if not _BARE_KEY.fullmatch(key):
            return f'write the name of the kind in quotation marks: "{key}"'
        if count > 1:
            return f"the kind {key} is listed twice"
    return 'write lines such as person = ["Marie Curie", "Obama"]'


def _toml_string(text: str) -> str:
    """Return a string in quotes; TOML and JSON escape the same characters."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
