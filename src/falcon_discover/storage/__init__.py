"""Saving a fitted audit in one file, without pickle; `falcon_discover.load` reads it."""

from __future__ import annotations

from pathlib import Path

from sklearn.utils.validation import check_is_fitted

from falcon_discover.exceptions import InputError
from falcon_discover.runtime import notices
from falcon_discover.storage import archive
from falcon_discover.storage.contents import Keep, stored


class Savable:
    """Gives an estimator its `save`."""

    def save(self, path: str | Path, reference: Keep = "full") -> Path:
        """Save the fitted audit in one file, which `falcon_discover.load` reads.

        Parameters
        ----------
        path : where; an older file there is replaced in one step
        reference : {"full", "sample", "none"}
            Which of the rows given to `fit` go into the file. "full" gives the same scores after
            loading, to the last bit. "sample" keeps a tenth of the rows (at least 1,000), with
            each class's share; signals are measured against these, so scores change.
            "none" keeps no row: the loaded audit ranks by gated confidence. In any case
            the file holds the model and, for columns of text, the values they had.

        Warns
        -----
        DataWarning : if loading the file will need trust in types that are not known to be safe

        Examples
        --------
        >>> import tempfile
        >>> from falcon_discover import FalconDiscover, datasets, load
        >>> rows = datasets.make_planted(300, random_state=0)
        >>> falcon = FalconDiscover("logistic_regression", random_state=0).fit(rows.X, rows.y)
        >>> new = datasets.make_planted(50, random_state=1).X
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = load(falcon.save(f"{folder}/audit.falcon"))
        >>> bool((again.score_samples(new) == falcon.score_samples(new)).all())
        True
        """
        check_is_fitted(self)
        path = Path(path)
        if not path.parent.is_dir():
            raise InputError(f"there is no folder {path.parent}: make it first.")
        manifest, parts, strange = stored(self, reference)
        archive.write(path, manifest, parts)
        if strange:
            options = " ".join(f"--trust {name}" for name in strange)
            notices.warn(
                f"{path} holds types that are not known to be safe, so loading it will need your "
                f"word for them: load(path, trusted={strange!r}), or 'falcon-discover score ... "
                f"{options}'."
            )
        return path
