"""For each extra, commands of the documentation that need it.

A command is run by a shell in a folder with the files that `write_inputs` writes. It must succeed,
and print the given text.
"""

from dataclasses import dataclass
from pathlib import Path

SENTENCE = "Marie Curie moved to Paris."
FIND = f"thresher find '{SENTENCE}' --model fast-english"


@dataclass(frozen=True)
class Check:
    """A command, and a part of what it prints; `fails` if its exit status is 1."""

    command: str
    prints: str = ""
    fails: bool = False


def _python(code: str) -> str:
    return f'python -c "{code}"'


FINDER = "from thresher import EntityFinder; finder = EntityFinder.load('fast-english'); "
CHECKS: dict[str, list[Check]] = {
    "": [
        Check(FIND, "Marie Curie"),
        Check(f"HF_HUB_OFFLINE=1 thresher find '{SENTENCE}'", "fast-english", fails=True),
        Check(f"{FIND} -o out.csv && cat out.csv", "Paris"),
        Check("thresher entities corpus --model fast-english -o e.csv -q && cat e.csv", "Oslo"),
        Check("thresher serve", "pip install '.[serve]'", fails=True),
    ],
    "english": [
        Check(f"thresher find '{SENTENCE}'", '"kind": "person"'),
        Check(f"thresher find '{SENTENCE}' --model small-english", "Marie Curie"),
    ],
    "languages": [
        Check("thresher find 'Marie Curie flyttede til Paris.' --model multilingual", "Marie Curie")
    ],
    "transformers": [Check(_python("import thresher.encoders.transformers_model"))],
    "unspaced": [
        Check(
            _python("from thresher.text import segment; print(segment('我喜欢北京')[0].texts)"),
            "北京",
        )
    ],
    "cldr": [
        Check(_python("from babel import Locale; print(Locale('sw').territories['KE'])"), "Kenya")
    ],
    "parquet": [Check(f"{FIND} -o out.parquet && test -s out.parquet")],
    "pdf": [Check("thresher find page.pdf --model fast-english", "Marie Curie")],
    "docx": [
        Check(
            _python(
                "import docx; d = docx.Document(); d.add_paragraph('Marie Curie moved to Paris.'); "
                "d.save('page.docx')"
            )
        ),
        Check("thresher find page.docx --model fast-english", "Marie Curie"),
    ],
    "pandas": [
        Check(
            _python(
                FINDER + "import pandas; print(finder.to_frame(pandas.Series("
                "['Marie Curie left.', None])).shape)"
            ),
            "(2, 6)",
        )
    ],
    "polars": [
        Check(
            _python(
                FINDER + "import polars; print(finder.to_frame(polars.Series("
                "['Marie Curie left.', None])).shape)"
            ),
            "(2, 6)",
        )
    ],
    "scikit-learn": [
        Check(
            _python(
                "from thresher.integrations.scikit_learn import EntityVectorizer; "
                "print(EntityVectorizer('fast-english').fit_transform(['Marie Curie left.']).sum())"
            ),
            "1",
        )
    ],
    "client": [
        Check(
            _python(
                "from thresher.web.client import AsyncClient; "
                "print(AsyncClient('http://127.0.0.1:8000'))"
            ),
            "AsyncClient",
        )
    ],
    "plots": [
        Check("thresher entities corpus --model fast-english -o e.csv --plot e.svg -q"),
        Check("head -c 200 e.svg", "<?xml"),
    ],
    "train": [
        Check(
            "thresher lm train corpus/notes.txt -o lm --steps 2 --batch 2 --width 16 --layers 1 "
            "--heads 1 --context 16 --tensorboard board -q && ls board",
            "events",
        )
    ],
    "gpu": [Check(_python("import triton"))],
    "onnx": [
        Check("thresher export --model fast-english -o model.onnx", "model.onnx"),
        Check(f"thresher find '{SENTENCE}' --model model.onnx", "Marie Curie"),
    ],
    "serve": [
        Check(
            "thresher serve --model fast-english --port 8765 -q & server=$!; "
            "for i in $(seq 60); do sleep 1; python health.py && break; done; kill $server",
            "Marie Curie",
        )
    ],
    "spacy": [
        Check(
            _python(
                "import spacy; nlp = spacy.blank('en'); "
                "nlp.add_pipe('thresher', config={'model': 'fast-english'}); "
                "print(nlp('Marie Curie moved to Paris.').ents)"
            ),
            "Marie Curie",
        )
    ],
    "ray": [
        Check(
            "thresher find corpus --model fast-english --engine ray -o found && ls found",
            "manifest.json",
        )
    ],
}


def write_inputs(folder: Path) -> None:
    """Write the files that the commands read."""
    (folder / "corpus").mkdir()
    for number in range(3):
        text = f"{SENTENCE} Magda Kowalska wrote to her from Oslo in May.\n" * 20
        (folder / "corpus" / f"notes{number or ''}.txt").write_text(text, encoding="utf-8")
    (folder / "page.pdf").write_bytes(_pdf(SENTENCE))
    (folder / "health.py").write_text(
        "import json, urllib.request\n"
        f"body = json.dumps({{'text': {SENTENCE!r}}}).encode()\n"
        "headers = {'Content-Type': 'application/json'}\n"
        "request = urllib.request.Request('http://127.0.0.1:8765/find', body, headers)\n"
        "print(urllib.request.urlopen(request, timeout=5).read().decode())\n",
        encoding="utf-8",
    )


def _pdf(text: str) -> bytes:
    """Return a PDF file with one line of text."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        start,
    )
    return bytes(out)
