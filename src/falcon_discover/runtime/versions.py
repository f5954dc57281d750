"""Which versions of which packages are at work."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

# The one place of our own version: the package, its distribution and the docs read it here.
__version__ = "0.2.0.dev0"

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
