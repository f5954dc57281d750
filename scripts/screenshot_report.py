"""Make the pictures of the report in the docs: `python scripts/screenshot_report.py`.

It audits the embedded Adult data (as `falcon-discover demo` does) unless a report is given, and
also shows the review queue of rows without labels. It needs playwright and chromium.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def report_of_adult(folder: Path) -> Path:
    from falcon_discover.cli.audit import demo

    demo(out=folder, quiet=True)
    return folder / "report.html"


def queue_of_planted(folder: Path) -> Path:
    """Rank rows whose labels are not given, by an audit of others."""
    from sklearn.frozen import FrozenEstimator

    from falcon_discover import FalconDiscover, datasets

    rows = datasets.make_planted(3_000, random_state=0)
    falcon = FalconDiscover(FrozenEstimator(rows.model), random_state=0)
    falcon.fit(rows.X[:2_000], rows.y[:2_000])
    return falcon.report(folder / "queue.html", rows.X[2_000:], name="New rows", budget=50)


def shoot(page_file: Path, picture: Path, width: int, height: int, dark: bool) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        page = browser.new_page(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        page.goto(page_file.resolve().as_uri())
        picture.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=picture)
        browser.close()
    print(f"{picture}: {picture.stat().st_size:,} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=Path, help="a report.html to show; default: of Adult")
    parser.add_argument("--out", type=Path, default=IMAGES, help="folder of the pictures")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=1000)
    parser.add_argument("--dark", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        pages = {
            "report.png": given.report or report_of_adult(Path(scratch)),
            "queue.png": queue_of_planted(Path(scratch)),
        }
        for name, page_file in pages.items():
            shoot(page_file, given.out / name, given.width, given.height, given.dark)


if __name__ == "__main__":
    main()
