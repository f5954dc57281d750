"""Which versions of which packages are at work."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from falcon_discover import __version__

SELF = "falcon-discover"


def version_of(package: str) -> str:
    """Return a package's version; our own also where only the source is there.

    Examples
    --------
    >>> version_of("no-such-package")
    'not installed'
    """
    if package == SELF:
        return __version__
    # XGBoost's wheel without CUDA parts goes by another name.
    for name in (package, f"{package}-cpu"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "not installed"
