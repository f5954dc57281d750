"""Coverage-guided fuzzing of what reads files, with Atheris: `make fuzz-guided`.

Bytes that reach new lines of the package are kept in the corpus that is begun here; those that
crash it are written to build/fuzz, and belong into tests/corpus once they are mended.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["falcon_discover.data", "falcon_discover.storage",
                                         "falcon_discover.monitoring.marks",
                                         "falcon_discover.report.feedback"]):  # fmt: skip
    from fuzz.targets import TARGETS, tried

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz.guided")
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--runs", type=int, default=20_000)
    given = parser.parse_args()
    work = ROOT / "build" / "fuzz" / given.target
    work.mkdir(parents=True, exist_ok=True)
    for seed in (CORPUS / given.target).iterdir():
        shutil.copy(seed, work / seed.name)
    warnings.simplefilter("ignore")

    def one(content: bytes) -> None:
        tried(given.target, content)

    options = [f"-runs={given.runs}", "-timeout=60", "-rss_limit_mb=4000", "-max_len=20000",
               f"-artifact_prefix={work}/", "-print_final_stats=1", "-seed=1"]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(work)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
