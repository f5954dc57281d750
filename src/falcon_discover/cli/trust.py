"""Types that a file holds and that must be trusted: the command that does so, ready to paste."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from falcon_discover.exceptions import InputError


@contextmanager
def command_to_trust() -> Iterator[None]:
    """Answer types that are not known to be safe with the command that trusts them."""
    from falcon_discover.storage.objects import UntrustedTypesError

    try:
        yield
    except UntrustedTypesError as error:
        program, *arguments = sys.argv
        name = Path(program).name
        called = ["python", "-m", "falcon_discover"] if name == "__main__.py" else [name]
        for found in error.types:
            arguments += ["--trust", found]
        raise InputError(
            f"{error.about} If you trust its author, run\n  {shlex.join([*called, *arguments])}"
        ) from error
