"""`save()` and `load()`: a fitted audit in one file and back, without any pickle."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from joblib import effective_n_jobs

from falcon_discover.audit.aliases import Keep
from falcon_discover.audit.estimator import FalconDiscover
from falcon_discover.audit.fitted import FittedAudit
from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices
from falcon_discover.storage import archive
from falcon_discover.storage.archive import Archive
from falcon_discover.storage.contents import restored, stored


def load(
    source: str | Path | bytes, *, trusted: Collection[str] = (), n_jobs: int | None = None
) -> FalconDiscover:
    """Return the audit that `FalconDiscover.save` wrote.

    Nothing is unpickled. Types that are not known to be safe are refused; so are files of a newer
    schema, files with a part that is missing or was altered, and small files that would fill the
    memory. Boosters are read by their libraries' own native code, which a forged file may crash:
    load only files you trust.

    Parameters
    ----------
    source : the file, or its bytes
    trusted : full names of further types to accept, such as a transformer of your own in the
        audited pipeline. Making an object of a type may run that type's code: name only what you
        know.
    n_jobs : threads to use from now on; None for what was set when the audit was saved

    See Also
    --------
    FalconDiscover.save : writes the file, and has an example of both
    """
    archive = Archive.open(source if isinstance(source, bytes) else Path(source))
    falcon = restored(archive, trusted, n_jobs)
    if n_jobs is not None:
        _use_threads(falcon.audit_, n_jobs)
    return falcon


def _use_threads(audit: FittedAudit, n_jobs: int) -> None:
    models = [] if audit.model is None else [audit.model.classifier]
    if audit.reference is not None and audit.reference.opinions is not None:
        models += audit.reference.opinions.models.values()
    for model in models:
        if hasattr(model, "get_booster"):
            # XGBoost asks the booster, not its wrapper.
            model.get_booster().set_param({"nthread": effective_n_jobs(n_jobs)})
        if hasattr(model, "n_jobs"):
            model.n_jobs = n_jobs


def save(falcon: FalconDiscover, path: Path, reference: Keep) -> Path:
    """Save a fitted audit in one file; `FalconDiscover.save` says what may be asked for."""
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent}: create it first.")
    manifest, parts, strange = stored(falcon, reference)
    archive.write(path, manifest, parts)
    if strange:
        options = " ".join(f"--trust {name}" for name in strange)
        notices.warn(
            f"{path} contains types that are not known to be safe. To load it, name them: "
            f"load(path, trusted={strange!r}), or 'falcon-discover score ... {options}'."
        )
    return path
