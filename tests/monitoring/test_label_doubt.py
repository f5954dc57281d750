"""`label_doubt()`: which confident errors are rather wrong labels, and how many."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from falcon_discover import FalconDiscover, InputError, discover, load
from falcon_discover.monitoring.label_doubt import COLUMNS, LabelNoise, label_noise, reason
from falcon_discover.monitoring.label_noise import RATES, estimate_noise
from support.findings import made_up


def simulated(n, noise, seed=0):
    """Log-odds of the risk, which labels contradict the prediction, and which of these slipped."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(-5, 1.5, n)
    slip = rng.uniform(size=n) < noise
    return odds, slip ^ (rng.uniform(size=n) < expit(odds)), slip


def noisy_table(n=900, classes=2, seed=0, noise=0.05):
    """A table, labels of which some are flipped, the true probabilities, and which are flipped."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    odds = 4.0 * X[list("abcd")[:classes]].to_numpy()
    if classes == 2:
        odds = np.column_stack([-odds[:, 0], odds[:, 0]])
    p = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    y = (odds + rng.gumbel(size=odds.shape)).argmax(axis=1)
    flipped = rng.uniform(size=n) < noise
    away = rng.integers(1, classes, n)
    return X, np.where(flipped, (y + away) % classes, y), p, flipped


@pytest.fixture(scope="module")
def noisy():
    X, y, p, flipped = noisy_table(seed=1, noise=0.02)
    falcon = FalconDiscover("precomputed", random_state=0, cv=3).fit(X, y, proba=p[:, 1])
    return falcon.examine(), flipped


def test_the_interval_of_the_number_of_wrong_labels_holds_in_simulations():
    inside, expected, true = 0, 0.0, 0
    for seed in range(8):
        odds, wrong, slip = simulated(4_000, 0.02, seed)
        found = estimate_noise(odds, wrong)
        low, high = found.expected_interval()
        count = int((slip & wrong).sum())
        inside += low <= count <= high
        expected, true = expected + found.expected, true + count
    assert inside >= 7
    assert expected == pytest.approx(true, rel=0.25)


def test_where_no_label_is_wrong_few_are_doubted():
    for seed in range(3):
        odds, wrong, _ = simulated(8_000, 0.0, seed)
        found = estimate_noise(odds, wrong)
        assert found.expected < 0.1 * wrong.sum()
        assert found.expected_interval()[0] < 2


def test_doubts_are_probabilities_that_fall_with_the_risk():
    odds, wrong, _ = simulated(3_000, 0.02)
    found = estimate_noise(odds, wrong)
    doubt = found.doubt[np.argsort(odds[wrong])]
    assert ((doubt >= 0) & (doubt <= 1)).all()
    assert (np.diff(doubt) <= 1e-12).all()
    assert found.mass.sum() == pytest.approx(1)
    low, high = found.rate_interval()
    assert RATES[0] <= low <= found.rate <= high <= RATES[-1]


def test_equal_weights_change_counts_and_nothing_else():
    odds, wrong, _ = simulated(2_000, 0.02)
    once, thrice = (estimate_noise(odds, wrong, weight=np.full(2_000, w)) for w in (1.0, 3.0))
    assert thrice.doubt == pytest.approx(once.doubt, abs=1e-6)
    assert thrice.expected == pytest.approx(3 * once.expected, rel=1e-5)


def test_rows_that_depend_on_each_other_leave_more_open():
    odds, wrong, _ = simulated(4_000, 0.02)
    alone, together = (estimate_noise(odds, wrong, effect=effect) for effect in (1.0, 4.0))
    (low, high), (lower, higher) = alone.expected_interval(), together.expected_interval()
    assert higher - lower > high - low


def test_the_order_of_rows_does_not_matter():
    odds, wrong, _ = simulated(12_000, 0.02)
    found = estimate_noise(odds, wrong)
    order = np.random.default_rng(1).permutation(12_000)
    shuffled = estimate_noise(odds[order], wrong[order])
    assert shuffled.expected == pytest.approx(found.expected, rel=1e-9)


def test_flipped_labels_come_before_errors_of_the_model(noisy):
    found, flipped = noisy
    frame = found.label_doubt()
    truth = flipped[frame["row"]]
    assert roc_auc_score(truth, frame["label_doubt"]) > 0.7
    noise = found.label_noise()
    assert noise.low <= truth.sum() <= noise.high


def test_every_contradicted_confident_prediction_is_listed_once(noisy):
    found, _ = noisy
    frame = found.label_doubt()
    assert list(frame.columns) == list(COLUMNS)
    assert sorted(frame["row"]) == np.flatnonzero(found.events).tolist()
    assert frame["label_doubt"].is_monotonic_decreasing
    assert (frame["predicted"] != frame["actual"]).all()
    assert (frame["confidence"] >= 0.9).all()
    assert frame["reason"].str.contains(" sure; ").all()


def test_the_result_speaks_for_itself(noisy):
    noise = noisy[0].label_noise()
    assert f"The model made {int(noise.errors)} confident errors; about" in repr(noise)
    assert "Check the labels" in repr(noise)
    assert "<table" in noise._repr_html_()
    told = noise.to_dict()
    assert told["expected"] == pytest.approx(sum(line["label_doubt"] for line in told["labels"]))
    assert told["low"] <= told["expected"] <= told["high"]


def test_the_index_holds_the_labels_of_the_rows():
    X, y, p, _ = noisy_table(300)
    X.index = [f"r{i % 200}" for i in range(300)]  # some twice
    found = discover(X, np.where(y, "yes", "no"), p[:, 1], random_state=0, ranker="confidence")
    frame = found.label_doubt()
    assert len(frame)
    assert frame.index.tolist() == X.index[frame["row"]].tolist()
    assert set(frame["actual"]) <= {"yes", "no"}


def test_a_label_that_the_model_thinks_impossible_is_doubted_more():
    X, y, p, flipped = noisy_table(400, classes=3, noise=0.06)
    falcon = FalconDiscover("precomputed", random_state=0, cv=2).fit(X, y, proba=p)
    frame = falcon.examine().label_doubt()
    likely = p[frame["row"], frame["actual"]]
    again = frame["label_doubt"].corr(pd.Series(likely, index=frame.index), method="spearman")
    assert again < -0.3
    assert roc_auc_score(flipped[frame["row"]], frame["label_doubt"]) > 0.7


def test_weights_and_groups_are_accounted_for():
    X, y, p, _ = noisy_table(200)
    falcon = FalconDiscover("precomputed", random_state=0, cv=2)
    falcon.fit(X, y, proba=p[:, 1], sample_weight=np.full(200, 2.0), groups=np.arange(200) // 2)
    noise = falcon.examine().label_noise()
    assert noise.errors == 2 * len(noise.frame())
    assert noise.expected == pytest.approx(2 * noise.frame()["label_doubt"].sum())


def test_new_rows_are_judged_by_the_fit_and_their_own_labels(tmp_path):
    X, y, p, _ = noisy_table(700)
    falcon = FalconDiscover("precomputed", random_state=0, cv=2)
    falcon.fit(X[:300], y[:300], proba=p[:300, 1])
    new = {"X": X[300:], "proba": p[300:, 1]}
    found = falcon.examine(y=y[300:], **new)
    frame = found.label_doubt()
    assert len(frame) == found.events.sum() > 5
    # The rarer errors are among rows like it, the more doubtful is the label.
    assert (np.diff(found.risk()[frame["row"]]) >= 0).all()
    with pytest.raises(InputError, match="this needs labels"):
        falcon.examine(**new).label_doubt()
    one = falcon.examine(X[300:301], y[300:301], proba=p[300:301, 1]).label_noise()
    assert one.expected <= 1
    # Saved without rows, it cannot tell.
    falcon.save(tmp_path / "small.falcon", reference="none")
    with pytest.warns(match="saved without reference rows"):
        small = load(tmp_path / "small.falcon").examine(y=y[300:], **new)
    with pytest.raises(InputError, match="label_doubt learns from the rows of the fit"):
        small.label_doubt()


def test_without_a_contradiction_there_is_nothing_to_doubt():
    X, _, p, _ = noisy_table(80)
    found = discover(X, (p[:, 1] > 0.5).astype(int), p[:, 1], ranker="confidence")
    frame = found.label_doubt()
    assert list(frame.columns) == list(COLUMNS)
    assert not len(frame)
    assert "no label to doubt" in repr(found.label_noise())


def test_one_expected_label_is_told_in_the_singular():
    noise = LabelNoise(pd.DataFrame(columns=list(COLUMNS)), 12.0, 1.2, 0.0, 4.0, 0.01, 0.0, 0.02)
    assert noise.words() == (
        "The model made 12 confident errors; about 1 looks like a wrong label "
        "(95% interval 0 to 4)."
    )
    one = LabelNoise(noise.doubts, 1.0, 0.3, 0.0, 1.0, 0.01, 0.0, 0.02)
    assert one.words() == (
        "The model made 1 confident error; it is unlikely to be a wrong label "
        "(95% interval 0 to 1)."
    )


def test_a_ranker_without_a_risk_gets_one():
    noise = label_noise(made_up(2_000))
    assert noise.errors == len(noise.frame()) > 0


def test_reasons_side_with_the_model_only():
    words = reason(
        {
            "confidence": 0.95, "labelled_as_predicted": 0.2, "neighbours": 25,
            "opinion_linear": -1.0, "opinion_forest": 2.0, "max_drift": 0.02,
            "label_consistency": 1.0,
        }
    )  # fmt: skip
    assert words == "95% sure; small changes hardly move the score (by 0.02 at most)"
