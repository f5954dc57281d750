from __future__ import annotations

from importlib.util import find_spec

# Networks are classes of torch's and cannot be imported without it.
collect_ignore = (
    [] if find_spec("torch") is not None else ["src/falcon_discover/models/deep/networks.py"]
)
