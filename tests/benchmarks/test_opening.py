"""The figure on top of README has a row for every estimator, the answers first to be seen."""

import matplotlib as mpl
import numpy as np
import pandas as pd

from benchmarks.headline import NAMES
from benchmarks.opening import LABELS, PANELS, draw
from benchmarks.real_data.plan import answers, estimators, refits


def table_of(names):
    rows = {
        "real_rms": np.linspace(0.05, 0.1, len(names)),
        "real_rms_se": 0.004,
        "model_rms": 0.05,
        "model_rms_se": 0.001,
        "real_coverage": [np.nan if number % 2 else 0.95 for number in range(len(names))],
        "model_coverage": 0.9,
        "time": 0.5,
        "refits": [number % 2 == 0 for number in range(len(names))],
    }
    return pd.DataFrame(rows, index=pd.Index(names, name="estimator"))


def test_every_estimator_has_a_row_and_both_panels_have_axes():
    mpl.use("Agg")
    names = [*answers(), *NAMES]
    axes = draw(table_of(names)).figure.axes
    assert [label.get_text() for label in axes[0].get_yticklabels()] == [LABELS.get(name, name) for name in names]
    assert [ax.get_title() for ax in axes] == list(PANELS.values())
    assert all("RMS" in ax.get_xlabel() for ax in axes)


def test_rows_without_an_interval_show_none():
    mpl.use("Agg")
    names = list(NAMES)
    texts = [text.get_text() for text in draw(table_of(names)).figure.axes[1].texts]
    assert texts.count("none") == len(names) // 2
    assert texts.count("95%") == len(names) - len(names) // 2


def test_what_trains_the_rule_again_is_known_of_every_estimator():
    again = {name for name in (*answers(), *estimators()) if refits(name)}
    assert {"assess-10", "cv", "nested-cv-2", "boot-632+", "calibrated-bolstered"} <= again
    assert not again & {"assess", "resub", "bolstered-3nn-pp", "gp-pp", "bayesian"}
