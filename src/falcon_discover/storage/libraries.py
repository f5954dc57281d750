"""Which packages, in which versions, a saved audit was made with."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

from falcon_discover.runtime import notices
from falcon_discover.runtime.versions import version_of
from falcon_discover.storage import native

PACKAGES = ("falcon-discover", "scikit-learn", "numpy", "pandas", "skops")


def used_versions(parts: Mapping[str, bytes]) -> dict[str, str]:
    """Return the versions of the packages that an audit with such parts needs."""
    endings = {ending: library for library, (_, ending) in native.LIBRARIES.items()}
    used = {endings.get(part.rpartition(".")[2]) for part in parts if part.startswith("models/")}
    found = {"python": platform.python_version()}
    for package in (*PACKAGES, *sorted(filter(None, used))):
        found[package] = version_of(package)
    return found


def warn_other_versions(manifest: Mapping[str, Any], name: str) -> None:
    """Warn where a model's library is not the one that the audit was saved with."""
    for package, then in manifest["versions"].items():
        now = version_of(package)
        if package in ("scikit-learn", *native.LIBRARIES) and now != then:
            notices.warn(
                f"{name} was saved with {package} {then}, but {now} is installed: scores may "
                "differ."
            )
