"""Memory and open files do not grow with the number of calls."""

from __future__ import annotations

import gc

import psutil
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import bayes_gresub as bg

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore:the chains")]

MOST_GROWTH = 16 * 2**20
"""Bytes; a leak of a sample's size in each call would be more than that."""


def held():
    """Return the bytes in memory and the number of open files of this process."""
    gc.collect()
    process = psutil.Process()
    return process.memory_info().rss, process.num_fds() if hasattr(process, "num_fds") else process.num_handles()


def assert_nothing_grows(call, times, first):
    """Compare after `first` calls, which fill caches, and after `times` more."""
    for number in range(first):
        call(number)
    memory, files = held()
    for number in range(times):
        call(number)
    memory_after, files_after = held()
    assert memory_after - memory < MOST_GROWTH
    assert files_after <= files


@pytest.mark.parametrize("name", ["bolstered", "3nn-pp", "bolstered-3nn-pp", "bayesian"])
def test_two_thousand_errors_leave_nothing_behind(name):
    X, y = bg.datasets.PaperGaussian().sample(60, random_state=0)
    classifier = SVC().fit(X, y)
    given = {"draws": 20, "chains": 2} if name == "bayesian" else {}

    def call(number):
        measure = bg.make_estimator(name, random_state=number, **given)
        measure.fit(X, y).error(classifier)

    assert_nothing_grows(call, 2000, 200)


def test_two_hundred_comparisons_leave_nothing_behind():
    X, y = bg.datasets.PaperGaussian().sample(40, random_state=0)

    def call(number):
        bg.compare(KNeighborsClassifier(3), X, y, ["resub", "bolstered", "cv", "boot-632"], random_state=number)

    assert_nothing_grows(call, 200, 20)
