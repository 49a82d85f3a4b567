"""Write docs/results.md, its plots and tables of other pages from the JSON in benchmarks/results.

python -m benchmarks.write_results
"""

from benchmarks.data import ROOT
from benchmarks.entities import section as entities
from benchmarks.faults import section as faults
from benchmarks.files import section as files
from benchmarks.installation import section as installation
from benchmarks.kernel import section as kernel
from benchmarks.kinds import section as kinds
from benchmarks.languages import acceptance as multilingual
from benchmarks.languages import section as languages
from benchmarks.lm import section as lm
from benchmarks.rationales import section as rationales
from benchmarks.serve import section as serve
from benchmarks.speed import section as speed
from benchmarks.training import section as training
from benchmarks.variants import section as variants

SECTIONS = (
    entities,
    kinds,
    files,
    speed,
    serve,
    faults,
    variants,
    multilingual,
    languages,
    rationales,
    lm,
    training,
    kernel,
    installation,
)


def main() -> None:
    page = "\n".join(each.section() for each in SECTIONS)
    (ROOT / "docs" / "results.md").write_text(page, encoding="utf-8")
    entities.write_readme_tables()
    speed.write_processors_table()


if __name__ == "__main__":
    main()
