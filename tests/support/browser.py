"""The browser that pages are opened in: tests that import it are skipped where there is none."""

from __future__ import annotations

import shutil

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("there is no chromium on this machine", allow_module_level=True)

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
