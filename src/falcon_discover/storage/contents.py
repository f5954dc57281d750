"""A fitted audit as a manifest and parts, and back."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from dataclasses import asdict, replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from falcon_discover import rankers
from falcon_discover.audit.absent import PRECOMPUTED
from falcon_discover.audit.aliases import Keep
from falcon_discover.audit.estimator import FalconDiscover
from falcon_discover.audit.fitted import REGION_WITNESS, FittedAudit, certainty_alone
from falcon_discover.audit.learned import Learned
from falcon_discover.data.table import Table, take_rows
from falcon_discover.data.view import TransformedView
from falcon_discover.evaluation.sources import CROSS_FITTED, GIVEN_SCORES
from falcon_discover.exceptions import InputError
from falcon_discover.models.adapter import Probe, probe
from falcon_discover.models.deep.base import DeepClassifier
from falcon_discover.rankers.base import Ranker
from falcon_discover.rankers.refit import NO_GAIN
from falcon_discover.rankers.training import LabelledState, TrainingRows
from falcon_discover.regions.clusters import Clusters
from falcon_discover.regions.region_set import RegionSet, basis_of
from falcon_discover.regions.rules import Rule
from falcon_discover.runtime import notices
from falcon_discover.runtime.types import BoolArray, IntArray
from falcon_discover.signals.builder import StateBuilder
from falcon_discover.signals.neighbours.index import LabelledIndex
from falcon_discover.signals.reference import Reference
from falcon_discover.storage import frames, native, objects, states
from falcon_discover.storage.archive import Archive
from falcon_discover.storage.bounds import reading
from falcon_discover.storage.libraries import used_versions, warn_other_versions
from falcon_discover.storage.manifest import (
    ENCODED,
    FIT_ROWS,
    FIT_TABLE,
    OBJECTS,
    REFERENCE,
    REGIONS,
    REVIEWED_FEATURES,
    REVIEWED_ROWS,
    VALIDATION_FEATURES,
    VALIDATION_ROWS,
    tau_of,
    threshold_of,
)

# A sample is a tenth of the rows, but at least this many.
SAMPLE_SHARE = 0.1
SAMPLE_AT_LEAST = 1000
# How rows are ranked where none is left to compare them with.
BARE_RANKER = "gated_confidence"
Parts = dict[str, bytes]


def stored(falcon: FalconDiscover, keep: Keep) -> tuple[dict[str, Any], Parts, list[str]]:
    """Return manifest and parts of a fitted `FalconDiscover`, and types that must be trusted."""
    if keep not in get_args(Keep):
        raise InputError(f"reference is {keep!r}: choose one of {', '.join(get_args(Keep))}.")
    audit = falcon.audit_
    if not audit.has_rows and keep != "none":
        raise InputError("this audit has no reference rows to save: use reference='none'.")
    assert audit.view is not None
    if audit.model is not None and isinstance(audit.model.classifier, DeepClassifier):
        raise InputError(
            "an audit of a deep model cannot be saved: no safe file format can store its "
            "network. Use joblib.dump(falcon, file) and load only files you trust, or audit its "
            "scores with FalconDiscover('precomputed')."
        )
    parts: Parts = {}
    content: dict[str, Any] = {
        "parameters": falcon.get_params(deep=False),
        "model": falcon.model_,
        "classes": audit.classes,
        "feature_names": getattr(falcon, "feature_names_in_", None),
        "view": None if audit.model and audit.view is audit.model.view else audit.view,
    }
    manifest: dict[str, Any] = {
        "model": {
            "backbone": falcon.backbone_,
            "candidates": falcon.candidates_,
            "name": _model_name(falcon),
        },
        "classes": [str(label) for label in audit.classes],
        "tau": list(audit.tau) if isinstance(audit.tau, tuple) else float(audit.tau),
        "threshold": float(audit.threshold),
        "columns": audit.kinds,
        "n_features": falcon.n_features_in_,
        "scored": audit.scored,
        "category_values": sum(len(v) for v in audit.view.values_.values()),
        "reference": {"kept": "none", "rows": 0, "validation_rows": 0, "of": audit.fitted_on},
    }
    if keep == "none":
        manifest["ranker"] = BARE_RANKER
        manifest["seed"] = int(audit.seed)
    else:
        _store_rows(audit, keep, content, manifest, parts)
    parts[OBJECTS], strange = objects.dumped(native.extract_boosters(content, parts))
    manifest["versions"] = used_versions(parts)
    return manifest, parts, strange


def restored(archive: Archive, trusted: Collection[str], n_jobs: int | None) -> FalconDiscover:
    """Return the audit as it was; `n_jobs`, unless None, replaces the threads that were set."""
    manifest = archive.manifest
    warn_other_versions(manifest, archive.name)
    where = archive.named(OBJECTS)
    content = objects.loaded(archive.parts[OBJECTS], trusted, name=where, limit=archive.limit)
    # Other parts have their own sentence; what is left is due to the objects.
    with reading(where):
        content = native.restore_boosters(content, archive.parts, archive.name)
        parameters, estimator = content["parameters"], content["parameters"]["estimator"]
        if n_jobs is not None:
            parameters["n_jobs"] = n_jobs
        library = estimator is None or isinstance(estimator, str)
        classes = content["classes"]
        if [str(label) for label in classes] != manifest["classes"]:
            raise InputError(f"{where} was altered: its classes are not those of the manifest.")
        model = None
        if estimator != PRECOMPUTED:
            model = probe(content["model"], np.arange(len(classes)) if library else classes)
        bare = manifest["reference"]["kept"] == "none"
        audit = (_bare_audit if bare else _audit)(content, archive, model)
        falcon = FalconDiscover(**parameters)
        falcon.n_features_in_ = manifest["n_features"]
        if content["feature_names"] is not None:
            falcon.feature_names_in_ = content["feature_names"]
        about = manifest["model"]
        return falcon.with_audit(audit, content["model"], about["backbone"], about["candidates"])


def _model_name(falcon: FalconDiscover) -> str:
    """Return what people call the model: of one that was given, the class inside the wrappers."""
    if falcon.estimator is None or isinstance(falcon.estimator, str):
        return str(falcon.backbone_)
    model = falcon.model_
    while isinstance(model, FrozenEstimator):
        model = model.estimator
    last = f", {type(model[-1]).__name__} at its end" if isinstance(model, Pipeline) else ""
    return f"{type(model).__name__}{last}"


def _store_rows(
    audit: FittedAudit, keep: Keep, content: dict[str, Any], manifest: dict[str, Any], parts: Parts
) -> None:
    """Put everything that holds rows, or was measured on them, into content and parts."""
    reference, builder, training = audit.reference, audit.builder, audit.training
    assert reference is not None
    assert builder is not None
    kept = _kept(reference.labels, keep, audit.seed)
    own = kept
    if audit.held_out is not None:
        # Of these rows, those that are judged, by their place among them.
        own = (np.cumsum(audit.held_out) - 1)[kept[audit.held_out[kept]]]
    checked = training.validation
    kept_checked = np.empty(0, dtype=np.intp)
    if checked is not None:
        kept_checked = _kept(checked.codes, keep, audit.seed)
        states.store(checked, kept_checked, VALIDATION_ROWS, VALIDATION_FEATURES, parts)
    if audit.learned is not None and training.reviewed is not None:
        # All of them, also beside a sample: there are few, and the next ones are learned with them.
        every = np.arange(len(training.reviewed.codes))
        states.store(training.reviewed, every, REVIEWED_ROWS, REVIEWED_FEATURES, parts)
        manifest["learned"] = asdict(audit.learned) | {"reviewed_rows": len(every)}
    fit_rows = frames.state_frame(training.oof, own)
    parts[FIT_ROWS] = frames.parquet(fit_rows.set_axis(audit.table.index[own]))
    parts[FIT_TABLE] = frames.parquet(audit.table.frame.iloc[own].reset_index(drop=True))
    arrays: dict[str, npt.NDArray[Any]] = {
        "labels": reference.labels[kept],
        "p": reference.p[kept],
        "coordinates": reference.coordinates[kept],
    }
    if audit.held_out is not None:
        arrays["held_out"] = audit.held_out[kept]
    if reference.hashes is not None:
        arrays["hashes"] = reference.hashes[kept]
    parts[REFERENCE] = frames.npz(arrays)
    layout = None
    if reference.probe is not None and reference.view is not reference.probe.view:
        layout, parts[ENCODED] = frames.rows_stored(take_rows(reference.encoded, kept))
    ranked = np.concatenate([own, len(training.oof.codes) + kept_checked])
    ranker = audit.ranker
    content |= {
        "support": reference.support,
        "opinions": reference.opinions,
        "spec": audit.spec,
        "ranker": _without_rows(ranker, ranked),
        "gain": training.gain,
        "witness": _witness(audit),
        "regions": _regions_stored(audit.regions, ranked, parts),
    }
    whole = len(kept) == audit.fitted_on
    manifest["reference"] |= {
        "kept": "full" if whole else "sample",
        "rows": len(kept),
        "validation_rows": len(kept_checked),
        "encoded": layout,
        "recall": reference.recall,
    }
    manifest["measure"] = {
        "n_neighbors": int(builder.n_neighbors),
        "n_mix_neighbors": int(builder.n_mix_neighbors),
        "mix": [float(weight) for weight in builder.mix],
        "seed": int(builder.seed),
    }
    manifest["ranker"] = rankers.trait(ranker, "name")


def _kept(codes: Any, keep: Keep, seed: int) -> IntArray:
    """Return the positions of the rows to keep, in order; a sample has each class's share."""
    if keep == "full":
        return np.arange(len(codes))
    size = min(len(codes), max(SAMPLE_AT_LEAST, round(SAMPLE_SHARE * len(codes))))
    rng = np.random.default_rng(seed)
    chosen = []
    for label in np.unique(codes):
        own = np.flatnonzero(codes == label)
        share = min(len(own), max(1, round(size * len(own) / len(codes))))
        chosen.append(rng.permutation(own)[:share])
    return np.sort(np.concatenate(chosen))


def _without_rows(ranker: Ranker, kept: IntArray) -> Ranker:
    """Return the ranker; scores it keeps of the rows it learned from are cut to those kept."""
    held = {name: value for name, value in vars(ranker).items() if name.startswith("held_out_")}
    if not held:
        return ranker
    other = copy(ranker)
    for name, value in held.items():
        setattr(other, name, value[kept])
    return other


def _witness(audit: FittedAudit) -> Ranker:
    # Where it has nothing to learn, regions do without; fit has said what there is to say.
    with notices.collected():
        return audit.ranker_of(REGION_WITNESS, audit.tau)


def _regions_stored(regions: RegionSet, kept: IntArray, parts: Parts) -> dict[str, Any]:
    clusters = regions.clusters
    parts[REGIONS] = frames.parquet(clusters.summary)

    def cut(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        return tuple(replace(rule, rows=np.flatnonzero(np.isin(kept, rule.rows))) for rule in rules)

    return {
        "clusters": {n: getattr(clusters, n) for n in ("model", "columns", "order")},
        "rules": cut(regions.unexpected),
        "foreseen": cut(regions.expected),
    }


def _reference(
    content: dict[str, Any],
    view: TransformedView,
    asked: Probe | None,
    archive: Archive,
    n_jobs: int | None,
) -> tuple[Reference, BoolArray | None]:
    """Return the reference rows, and which of them are judged; None if all are."""
    about = archive.manifest["reference"]
    arrays = states.arrays(archive, REFERENCE, about["rows"])
    with reading(archive.named(REFERENCE)):
        encoded: Any = None
        if asked is not None:
            encoded = arrays["coordinates"].astype(view.dtype, copy=False)
        n_classes = len(content["classes"])
        index = LabelledIndex(arrays["coordinates"], arrays["labels"], n_jobs, n_classes)
        p = arrays["p"].reshape((-1,) if n_classes == 2 else (about["rows"], n_classes))
    if about["encoded"] is not None:
        where = archive.named(ENCODED)
        encoded = frames.rows_restored(
            about["encoded"], archive.parts[ENCODED], archive.limit, where, about["rows"]
        )
    reference = Reference(
        arrays["labels"],
        p,
        view,
        index,
        content["support"],
        asked,
        encoded,
        arrays.get("hashes"),
        content["opinions"],
    )
    held_out = arrays.get("held_out")
    return reference, None if held_out is None else held_out.astype(np.bool_)


def _audit(content: dict[str, Any], archive: Archive, model: Probe | None) -> FittedAudit:
    manifest = archive.manifest
    rows, checked = (manifest["reference"][name] for name in ("rows", "validation_rows"))
    view = _view(content, model)
    n_jobs = content["parameters"]["n_jobs"]
    reference, held_out = _reference(content, view, model, archive, n_jobs)
    features = reference.coordinates
    if held_out is not None:
        features, rows = features[held_out], int(held_out.sum())
    frame = states.table(archive, FIT_ROWS, rows)
    classes, threshold = content["classes"], threshold_of(manifest)
    with reading(archive.named(FIT_ROWS)):
        oof = frames.labelled_state(frame, features, len(classes), threshold)
    validation = reviewed = learned = None
    if checked:
        validation = states.read(
            archive, VALIDATION_ROWS, VALIDATION_FEATURES, checked, len(classes)
        )
    if "learned" in manifest:
        about = dict(manifest["learned"])
        seen = about.pop("reviewed_rows")
        reviewed = states.read(archive, REVIEWED_ROWS, REVIEWED_FEATURES, seen, len(classes))
        with reading(f"{archive.name}: its manifest.json"):
            learned = Learned(**about)
    # Files of earlier releases hold no gain.
    gain = content.get("gain", NO_GAIN)
    training = TrainingRows(oof, validation, reviewed, gain)
    tau, spec = tau_of(manifest), content["spec"]
    training.keep(REGION_WITNESS, tau, content["witness"])
    training.keep(spec, tau, content["ranker"])
    table = states.table(archive, FIT_TABLE, rows)
    measure, regions = manifest["measure"], content["regions"]
    clusters = Clusters(**regions["clusters"], summary=states.table(archive, REGIONS))
    given = model is None or isinstance(content["parameters"]["estimator"], FrozenEstimator)
    return FittedAudit(
        classes=classes,
        tau=tau,
        threshold=threshold,
        spec=spec,
        seed=measure["seed"],
        kinds=dict(manifest["columns"]),
        table=Table(table, table, dict(manifest["columns"]), frame.index),
        training=training,
        regions=RegionSet(
            regions["rules"], regions["foreseen"], clusters, basis=basis_of(oof.state)
        ),
        fitted_on=manifest["reference"]["of"],
        source=GIVEN_SCORES if given else CROSS_FITTED,
        view=view,
        model=model,
        reference=reference,
        builder=StateBuilder(**{**measure, "mix": tuple(measure["mix"]), "threshold": threshold}),
        scored=manifest.get("scored", 1),
        held_out=held_out,
        learned=learned,
    )


def _view(content: dict[str, Any], model: Probe | None) -> TransformedView:
    view = content["view"] or (None if model is None else model.view)
    if not isinstance(view, TransformedView):
        raise InputError("the audit holds no view of its rows.")
    return view


def _bare_audit(content: dict[str, Any], archive: Archive, model: Probe | None) -> FittedAudit:
    """Return an audit that was saved without any row: it ranks by the model's confidence."""
    manifest = archive.manifest
    classes, threshold = content["classes"], threshold_of(manifest)
    none = np.empty(0) if len(classes) == 2 else np.empty((0, len(classes)))
    state, codes = certainty_alone(none, threshold), np.empty(0, dtype=np.int8)
    return FittedAudit(
        classes=classes,
        tau=tau_of(manifest),
        threshold=threshold,
        spec=BARE_RANKER,
        seed=manifest.get("seed", 0),
        kinds=dict(manifest["columns"]),
        table=Table(None, pd.DataFrame(), {}, pd.RangeIndex(0)),
        training=TrainingRows(LabelledState(state, codes)),
        regions=RegionSet.none("the audit was saved without reference rows."),
        fitted_on=manifest["reference"]["of"],
        source=CROSS_FITTED,
        view=_view(content, model),
        model=model,
        scored=manifest.get("scored", 1),
    )
