"""The default bolstered estimate against held-out error on real data sets of unlike units."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayes_gresub import Bolstered


@pytest.mark.parametrize(
    ("load", "within_class"), [(load_breast_cancer, False), (load_wine, True)], ids=["breast_cancer", "wine"]
)
def test_default_bolstered_estimate_is_within_a_twentieth_of_the_held_out_error_on_average(load, within_class):
    """Twenty splits of 60 training points; the mean deviation has a standard error of about 0.005."""
    X, y = load(return_X_y=True)
    deviations = []
    for split in range(20):
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, train_size=60, stratify=y if within_class else None, random_state=split
        )
        classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X_train, y_train)
        estimate = Bolstered(random_state=split).fit(X_train, y_train).error(classifier)
        deviations.append(estimate.value - np.mean(classifier.predict(X_test) != y_test))
    assert abs(np.mean(deviations)) < 0.05
