"""Ctrl-C during a task, in libraries that catch it: the run ends, and no number that was cut short is kept."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path

import cloudpickle
import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neural_network import MLPClassifier

import bayes_gresub as bg
from bayes_gresub.models import gibbs
from bayes_gresub.studies.interrupts import ended_by_interrupts

# Worker processes cannot import a test module, so its classes are sent to them whole.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

POPULATION = bg.datasets.PaperGaussian(n_informative=2, n_noise=2)
LDA = LinearDiscriminantAnalysis()


def study(rule=LDA, estimators=("resub",), repetitions=3):
    return bg.Study(POPULATION, {"rule": rule}, estimators, [16], repetitions, seed=1)


def numbers(results):
    return results.to_xarray().drop_vars("seconds")


@pytest.fixture(autouse=True)
def _python_handles_interrupts():
    # A shell that starts the tests in the background has them ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Plan:
    """At which of the calls that count Ctrl-C comes, and how many there were."""

    stop_at: int | None = None
    calls = 0
    went_on = 0


@pytest.fixture(autouse=True)
def _no_plan(monkeypatch):
    monkeypatch.setattr(Plan, "stop_at", None)
    monkeypatch.setattr(Plan, "calls", 0)
    monkeypatch.setattr(Plan, "went_on", 0)


def count():
    Plan.calls += 1
    if Plan.calls == Plan.stop_at:
        signal.raise_signal(signal.SIGINT)


class Swallowing(LinearDiscriminantAnalysis):
    """LDA, which keeps what it has when it is interrupted, whatever says so."""

    def __init__(self, caught=KeyboardInterrupt):
        super().__init__()
        self.caught = caught

    def fit(self, X, y):
        try:
            count()
        except self.caught:
            y = np.roll(y, 1)
            Plan.went_on += 1
        return super().fit(X, y)


def check_that_nothing_cut_short_is_kept(made, folder, stop_at, n_done):
    """Interrupt a run at one of the calls that count; then the folder must lead to the numbers of a whole run."""
    whole = numbers(made.run())
    Plan.calls, Plan.stop_at = 0, stop_at
    with pytest.raises(bg.Interrupted, match=rf"stopped after {n_done} of 3 tasks; they are kept"):
        made.run(folder)
    Plan.stop_at = None
    assert len(list(Path(folder).glob("tasks/*/*/*.json"))) == n_done
    assert numbers(made.run(folder)).identical(whole)


@pytest.mark.parametrize("caught", [KeyboardInterrupt, BaseException])
def test_an_interrupt_that_a_rule_swallows_ends_the_run_and_its_task_is_not_kept(tmp_path, caught):
    check_that_nothing_cut_short_is_kept(study(Swallowing(caught)), tmp_path, 2, 1)


def test_an_interrupt_ends_a_task_at_once_though_the_rule_would_go_on(tmp_path):
    """Three of the four fits of a task come after it."""
    Plan.stop_at = 1
    with pytest.raises(bg.Interrupted, match="stopped after 0 of 3"):
        study(Swallowing(), {"cv": bg.CrossValidation(3)}).run(tmp_path)
    assert (Plan.calls, Plan.went_on) == (1, 0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_interrupt_that_a_network_of_scikit_learn_swallows_ends_the_run(tmp_path, monkeypatch):
    backprop = MLPClassifier._backprop

    def counted(self, *args, **kwargs):
        count()
        return backprop(self, *args, **kwargs)

    monkeypatch.setattr(MLPClassifier, "_backprop", counted)
    made = study(MLPClassifier((4,), max_iter=10, random_state=0))
    check_that_nothing_cut_short_is_kept(made, tmp_path, 15, 1)


def test_an_interrupt_that_the_gibbs_sampler_swallows_ends_the_run(tmp_path, monkeypatch):
    draw = gibbs._draw_center

    def counted(*args):
        count()
        return draw(*args)

    monkeypatch.setattr(gibbs, "_draw_center", counted)
    made = study(estimators={"bayesian": bg.Bayesian(sampler="gibbs", draws=40, tune=10, chains=2)})
    check_that_nothing_cut_short_is_kept(made, tmp_path, 80, 1)


@pytest.mark.long
@pytest.mark.parametrize("backend", ["pymc", "nutpie"])
def test_an_interrupt_that_a_sampler_of_pymc_models_swallows_ends_the_run(tmp_path, monkeypatch, backend):
    """Ctrl-C comes from another thread while the sampler runs in the second task."""
    from bayes_gresub.models import nuts

    name = f"sample_{backend}"
    sample = getattr(nuts, name)

    def counted(*args):
        Plan.calls += 1
        if Plan.calls == Plan.stop_at:
            threading.Timer(0.7, signal.raise_signal, [signal.SIGINT]).start()
        return sample(*args)

    monkeypatch.setattr(nuts, name, counted)
    # Draws enough for seconds.
    measure = bg.Bayesian(sampler="nuts", backend=backend, draws=6000, tune=500, chains=1)
    made = study(estimators={"bayesian": measure})
    check_that_nothing_cut_short_is_kept(made, tmp_path, 2, 1)


def test_an_interrupt_that_a_rule_swallows_in_another_process_ends_the_run(tmp_path):
    made = study(SwallowingOnce(str(tmp_path / "flag")))
    whole = numbers(made.run())
    (tmp_path / "flag").touch()
    with pytest.raises(bg.Interrupted, match="they are kept"):
        made.run(tmp_path / "run", n_jobs=2)
    (tmp_path / "flag").unlink()
    assert numbers(made.run(tmp_path / "run")).identical(whole)


class SwallowingOnce(LinearDiscriminantAnalysis):
    """LDA, which is interrupted while a file is there, and keeps what it has."""

    def __init__(self, flag=""):
        super().__init__()
        self.flag = flag

    def fit(self, X, y):
        try:
            if Path(self.flag).exists():
                signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            y = np.roll(y, 1)
        return super().fit(X, y)


def test_the_handler_of_interrupts_is_as_before_after_a_task_and_after_an_interrupt(tmp_path):
    made = study(Swallowing())
    made.run()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    Plan.calls, Plan.stop_at = 0, 1
    with pytest.raises(bg.Interrupted, match="stopped after 0 of 3"):
        made.run(tmp_path)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_user_that_raises_nothing_lets_the_task_go_on():
    seen = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    Plan.stop_at = 1
    assert len(study(Swallowing()).run().records) == 3
    assert seen == [signal.SIGINT]


class Left(Exception):
    """What a handler of a user raises."""


def test_what_a_handler_of_the_user_raises_ends_the_run():
    def leave(number, frame):
        raise Left("left by the handler")

    signal.signal(signal.SIGINT, leave)
    Plan.stop_at = 2
    with pytest.raises(Left, match="left by the handler"):
        study(Swallowing(Exception)).run()


def test_interrupts_that_are_ignored_stay_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Plan.stop_at = 1
    assert len(study(Swallowing()).run().records) == 3


def test_work_in_another_thread_is_done_as_it_is():
    found = []
    thread = threading.Thread(target=lambda: found.append(ended_by_interrupts(lambda: 5)))
    thread.start()
    thread.join()
    assert found == [5]


def test_an_error_of_work_that_was_not_interrupted_is_raised_as_it_is():
    with pytest.raises(ZeroDivisionError, match="division"):
        ended_by_interrupts(lambda: 1 / 0)


def test_an_interrupt_just_before_an_error_is_still_an_interrupt():
    def work():
        try:
            signal.raise_signal(signal.SIGINT)
        except BaseException as stop:
            raise RuntimeError("the chain was cut short") from stop

    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        ended_by_interrupts(work)
