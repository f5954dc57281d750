"""What CONTRIBUTING.md says about adding things is true: its examples run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

import falcon_discover

REPOSITORY = Path(__file__).parents[1]
TEXT = (REPOSITORY / "CONTRIBUTING.md").read_text()
EXAMPLES = dict(re.findall(r"## Add a ([a-z ]+)\n.*?```python\n(.*?)```", TEXT, re.DOTALL))


@pytest.mark.parametrize("what", ["ranker", "calibrator", "reader", "region search"])
def test_the_worked_example_runs(what):
    exec(compile(EXAMPLES[what], f"CONTRIBUTING.md: {what}", "exec"), {})


SIGNAL = re.findall(r"```python\n(.*?)```", TEXT.partition("## Add a signal")[2], re.DOTALL)


USE = """
from sklearn.linear_model import LogisticRegression
from falcon_discover import FalconDiscover, datasets
from falcon_discover.audit.curves import Curves
from falcon_discover.report.rows import page_rows

rows = datasets.make_planted(500, random_state=0)
X = rows.X.select_dtypes("number").fillna(0)
falcon = FalconDiscover(LogisticRegression(), tau=0.7, random_state=0).fit(X[:400], rows.y[:400])
found = falcon.examine(X[400:], rows.y[400:])
assert found.state.column("crowding").max() > 0
assert "crowding" in set(Curves(found).signals()["signal"])
shown = {signal["label"] for signal in page_rows(found, found.review(0.1))["signals"]}
assert "Crowding: nearest over 25th distance" in shown
print("measured and shown")
"""


def test_a_signal_is_one_record_and_one_function(tmp_path):
    package = tmp_path / "falcon_discover"
    shutil.copytree(Path(falcon_discover.__file__).parent, package)

    def put(file: str, before: str, new: str) -> None:
        text = (package / "signals" / file).read_text()
        assert text.count(before) == 1
        (package / "signals" / file).write_text(text.replace(before, new + before))

    record, function, call = SIGNAL
    put("catalogue.py", ")  # fmt: skip\n\nBY_NAME", indent(record.rstrip() + ",\n", "    "))
    put("extended.py", "def drift_signals(", function + "\n\n")
    put(
        "builder.py",
        "        if reference.opinions is not None:\n            said",
        indent(call, " " * 8),
    )
    put("builder.py", "    drift_signals,\n", "    crowding_signals,\n")
    said = subprocess.run(
        [sys.executable, "-c", USE],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert said.stdout == "measured and shown\n", said.stderr
