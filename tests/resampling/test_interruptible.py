"""The work of resampling: interrupted and resumed, shared out, seeded, shown, replayed; and what it leaves alone."""

from __future__ import annotations

import functools
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

import bayes_gresub as bg
from bayes_gresub.resampling import interruptible as work

RESAMPLERS = {
    "cross-validation": lambda **given: bg.CrossValidation(4, 2, **({"random_state": 0} | given)),
    "leave-one-out": lambda **given: bg.LeaveOneOut(**({"random_state": 0} | given)),
    "zero bootstrap": lambda **given: bg.Bootstrap("zero", 8, **({"random_state": 0} | given)),
    "632+ bootstrap": lambda **given: bg.Bootstrap("632+", 8, **({"random_state": 0} | given)),
    # Few kappas and few points: what is found is of no interest here.
    "calibrated": lambda **given: bg.Calibrated(
        **({"measure": bg.Bolstered(n_points=8), "step": 1.0, "max_kappa": 3.0, "random_state": 0} | given)
    ),
}
N_SPLITS = {"cross-validation": 8, "leave-one-out": 16, "zero bootstrap": 8, "632+ bootstrap": 8, "calibrated": 5}
"""Splits that each averages over, of 16 points."""

every_resampler = pytest.mark.parametrize("name", RESAMPLERS)
randomly_splitting = pytest.mark.parametrize("name", [name for name in RESAMPLERS if name != "leave-one-out"])

pytestmark = pytest.mark.filterwarnings("ignore:kappa reached max_kappa")


@functools.cache
def sample(n=16, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 3)) + y[:, None], y


def random_rule():
    """Return a rule whose fits differ from seed to seed, and that has none of its own."""
    return DecisionTreeClassifier(max_features=1)


class Plan:
    """What happens at which fit."""

    fits = 0
    stop_at = None
    error = KeyboardInterrupt


class Scripted(ClassifierMixin, BaseEstimator):
    """Says the class of the nearest mean, counts its fits and raises at one of them, as the plan says."""

    def fit(self, X, y):
        Plan.fits += 1
        if Plan.fits == Plan.stop_at:
            raise Plan.error("stop, says the test")
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        return self.classes_[((X[:, None] - self.means_) ** 2).sum(axis=2).argmin(axis=1)]


@pytest.fixture(autouse=True)
def _no_plan():
    planned(None)


def planned(stop_at, error=KeyboardInterrupt):
    Plan.fits, Plan.stop_at, Plan.error = 0, stop_at, error


def interrupted(resampler, stop_at, call=lambda resampler: resampler.error(Scripted(), *sample())):
    """Interrupt a call at this fit and return what was raised; later fits are not interrupted."""
    planned(stop_at)
    # Any KeyboardInterrupt is caught: one that escaped would end the test run.
    with pytest.raises(KeyboardInterrupt, match="stop") as stop:
        call(resampler)
    planned(None)
    assert isinstance(stop.value, bg.Interrupted), f"got a bare {type(stop.value).__name__}"
    return stop.value


def assert_same(one, other):
    """Assert that two estimates are the same to the last bit."""
    np.testing.assert_array_equal(one.replicate_values, other.replicate_values)
    np.testing.assert_array_equal(one.replicate_confusions, other.replicate_confusions)
    np.testing.assert_array_equal(one.contributions, other.contributions)
    assert dict(one.details) == dict(other.details)
    assert one.computation.n_refits == other.computation.n_refits
    assert one.estimand == other.estimand


# Interruption

# The fit to all points of .632+ and of calibration is the first, before those of the splits.
STOPS = {
    "cross-validation": [(4, 3), (5, 4), (8, 7)],
    "leave-one-out": [(2, 1), (14, 13)],
    "zero bootstrap": [(3, 2), (6, 5)],
    "632+ bootstrap": [(4, 2), (7, 5)],
    "calibrated": [(3, 1), (5, 3)],
}
every_stop = pytest.mark.parametrize(
    ("name", "stop_at", "done"), [(name, *stop) for name, stops in STOPS.items() for stop in stops]
)
late_stop = pytest.mark.parametrize(("name", "stop_at", "done"), [(name, *stops[-1]) for name, stops in STOPS.items()])


def test_interrupted_is_a_keyboard_interrupt():
    """Code that cleans up after Ctrl-C must see it."""
    assert issubclass(bg.Interrupted, KeyboardInterrupt)


@late_stop
def test_interrupt_says_how_much_is_done_and_what_to_do(name, stop_at, done):
    stop = interrupted(RESAMPLERS[name](), stop_at)
    total = N_SPLITS[name] + (name in ("632+ bootstrap", "calibrated"))
    assert str(stop) == (
        f"stopped after {stop_at - 1} of {total} fits. `partial` of this exception is their estimate; resume() of "
        f"the {type(RESAMPLERS[name]()).__name__} does the rest."
    )


@every_stop
def test_partial_result_is_that_of_the_splits_done(name, stop_at, done):
    resampler = RESAMPLERS[name]()
    stop = interrupted(resampler, stop_at)
    only_these = RESAMPLERS[name]().error(Scripted(), *sample(), indices=resampler.indices_[:done])
    assert stop.partial.value == only_these.value
    np.testing.assert_array_equal(stop.partial.confusion, only_these.confusion)
    np.testing.assert_array_equal(stop.partial.contributions, only_these.contributions)


@late_stop
def test_partial_result_can_be_asked_for_again(name, stop_at, done):
    resampler = RESAMPLERS[name]()
    stop = interrupted(resampler, stop_at)
    assert_same(resampler.partial(), stop.partial)


@late_stop
def test_partial_result_says_that_its_standard_error_is_unknown(name, stop_at, done):
    partial = interrupted(RESAMPLERS[name](), stop_at).partial
    assert np.isnan(partial.std_error)


@pytest.mark.parametrize(
    ("name", "stop_at"), [(name, stops[-1][0]) for name, stops in STOPS.items() if name != "calibrated"]
)
def test_partial_result_has_no_interval(name, stop_at):
    partial = interrupted(RESAMPLERS[name](), stop_at).partial
    with pytest.raises(ValueError, match=rf"{stop_at - 1} of \d+ fits are done"):
        partial.interval()


@late_stop
def test_split_errors_after_an_interrupt_are_those_of_the_splits_done(name, stop_at, done):
    resampler, whole = RESAMPLERS[name](), RESAMPLERS[name]()
    whole.error(Scripted(), *sample())
    interrupted(resampler, stop_at)
    np.testing.assert_array_equal(resampler.split_errors_, whole.split_errors_[:done])


@every_stop
def test_resumed_result_is_that_of_an_uninterrupted_run(name, stop_at, done):
    resampler = RESAMPLERS[name]()
    whole = RESAMPLERS[name]().error(Scripted(), *sample())
    interrupted(resampler, stop_at)
    assert_same(resampler.resume(), whole)


def test_resumed_result_with_sampled_points_and_a_random_rule_is_that_of_an_uninterrupted_run():
    """Seeds belong to splits, so that it does not matter which are done in which call."""

    class Stopped(RandomForestClassifier):
        def fit(self, X, y):
            Plan.fits += 1
            if Plan.fits == Plan.stop_at:
                raise KeyboardInterrupt("stop, says the test")
            return super().fit(X, y)

    rule, make = Stopped(3), functools.partial(bg.Bootstrap, "632", 6, measure=bg.Bolstered(), random_state=0)
    resampler = make()
    whole = make().error(rule, *sample())
    interrupted(resampler, 4, lambda resampler: resampler.error(rule, *sample()))
    assert resampler.resume().value == whole.value


@late_stop
def test_resuming_repeats_no_fit_that_is_done(name, stop_at, done):
    resampler = RESAMPLERS[name]()
    RESAMPLERS[name]().error(Scripted(), *sample())
    in_all = Plan.fits
    interrupted(resampler, stop_at)
    resampler.resume()
    assert Plan.fits == in_all - (stop_at - 1)


@every_resampler
def test_work_can_be_interrupted_twice(name):
    resampler = RESAMPLERS[name]()
    whole = RESAMPLERS[name]().error(Scripted(), *sample())
    interrupted(resampler, 4)
    interrupted(resampler, 2, lambda resampler: resampler.resume())
    assert_same(resampler.resume(), whole)


@every_resampler
def test_resuming_what_is_done_gives_it_again(name):
    resampler = RESAMPLERS[name]()
    assert_same(resampler.error(Scripted(), *sample()), resampler.resume())


@pytest.mark.parametrize(
    ("name", "stop_at"),
    [*((name, 1) for name in RESAMPLERS), ("zero bootstrap", 2), ("632+ bootstrap", 2), ("632+ bootstrap", 3)],
)
def test_interrupt_before_anything_can_be_said_has_no_partial_result(name, stop_at):
    """The bootstrap needs two resamples, and .632+ the apparent error besides."""
    assert interrupted(RESAMPLERS[name](), stop_at).partial is None


@pytest.mark.parametrize(
    ("name", "stop_at"), [*((name, 1) for name in RESAMPLERS), ("zero bootstrap", 2), ("632+ bootstrap", 3)]
)
def test_partial_result_of_too_little_is_refused(name, stop_at):
    resampler = RESAMPLERS[name]()
    interrupted(resampler, stop_at)
    with pytest.raises(ValueError, match=rf"{stop_at - 1} of \d+ fits are done, too few .* Call resume\(\)"):
        resampler.partial()


@pytest.mark.parametrize(("name", "stop_at"), [(name, stops[-1][0]) for name, stops in STOPS.items()])
def test_interrupt_starts_no_other_fit(name, stop_at):
    """Who presses Ctrl-C because fits are slow must not wait for one more."""
    planned(stop_at)
    with pytest.raises(KeyboardInterrupt, match="stop"):
        RESAMPLERS[name]().error(Scripted(), *sample())
    assert Plan.fits == stop_at


def test_interrupt_in_the_last_fit_of_calibration_can_be_resumed():
    """That on all points, after those of the repeats."""
    resampler = RESAMPLERS["calibrated"]()
    whole = RESAMPLERS["calibrated"]().error(Scripted(), *sample())
    interrupted(resampler, 6)
    assert_same(resampler.resume(), whole)


def test_interrupted_nested_cross_validation_resumes_to_the_same_interval():
    make = functools.partial(bg.CrossValidation, 3, 2, interval="nested", random_state=0)
    resampler, whole = make(), make().error(Scripted(), *sample())
    interrupted(resampler, 9)
    assert resampler.resume().interval() == whole.interval()


def test_partial_nested_cross_validation_with_all_folds_done_has_no_interval():
    """Six folds are done, and some of the fits without two folds."""
    partial = interrupted(bg.CrossValidation(3, 2, interval="nested", random_state=0), 9).partial
    with pytest.raises(ValueError, match="8 of 12 fits are done"):
        partial.interval()


def test_interrupted_bootstraps_of_several_kinds_can_be_resumed():
    whole = bg.Bootstrap("632", 8, random_state=0).error(Scripted(), *sample())
    resampler = bg.Bootstrap("632", 8, random_state=0)
    interrupted(resampler, 5, lambda resampler: resampler.errors(Scripted(), *sample(), kinds=["zero"]))
    assert resampler.resume().value == whole.value


def test_interrupted_work_can_be_pickled_and_resumed():
    resampler = RESAMPLERS["632+ bootstrap"](measure=bg.Bolstered())
    rule = KNeighborsClassifier(3)
    whole = RESAMPLERS["632+ bootstrap"](measure=bg.Bolstered()).error(rule, *sample())
    resampler.error(rule, *sample())
    # As an interrupt leaves it; a rule that stops could not be unpickled elsewhere.
    del resampler._run.work.results[5:]
    assert_same(pickle.loads(pickle.dumps(resampler)).resume(), whole)


SCRIPT = '''
import json, os, sys, time
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
import bayes_gresub as bg

class Slow(LinearDiscriminantAnalysis):
    """The first six fits are quick; the later ones take a minute."""

    def fit(self, X, y):
        begun = len(os.listdir(sys.argv[1]))
        open(os.path.join(sys.argv[1], f"{os.getpid()}-{time.monotonic_ns()}"), "w").close()
        time.sleep(0.25 if begun < 6 else 60)
        return super().fit(X, y)

y = np.arange(24) % 2
X = np.random.default_rng(0).normal(size=(24, 3)) + y[:, None]
resampler = bg.CrossValidation(4, repeats=50, n_jobs=2, random_state=0)
try:
    resampler.error(Slow(), X, y)
except bg.Interrupted as stop:
    done = len(resampler.split_errors_)
    quick = bg.CrossValidation(4, repeats=50, random_state=0)
    quick = quick.error(LinearDiscriminantAnalysis(), X, y, indices=resampler.indices_[:done])
    print(json.dumps({"done": done, "partial": float(stop.partial), "expected": float(quick)}))
'''


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT to a process group, as a terminal does")
def test_ctrl_c_in_a_terminal_ends_parallel_work_at_once_and_keeps_what_is_done(tmp_path):
    """Two processes, six quick fits and then such of a minute; the signal comes while both are at the slow ones."""
    script, begun = tmp_path / "script.py", tmp_path / "begun"
    script.write_text(SCRIPT)
    begun.mkdir()
    process = subprocess.Popen(
        [sys.executable, str(script), str(begun)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 60
        while len(list(begun.iterdir())) < 8 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        sent = time.monotonic()
        out, err = process.communicate(timeout=20)
        assert process.returncode == 0, err
        assert time.monotonic() - sent < 10
        answer = json.loads(out)
        assert answer["done"] >= 1
        assert answer["partial"] == answer["expected"]
        assert alive_after(process.pid, seconds=5) == []
    finally:
        if alive_after(process.pid, seconds=0):
            os.killpg(process.pid, signal.SIGKILL)


def alive_after(group, seconds):
    """Return the processes of a group that are alive after so many seconds, or none as soon as there are none."""
    deadline = time.monotonic() + seconds
    while True:
        listed = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
        rows = [line.split(maxsplit=2) for line in listed.splitlines()]
        # A zombie is dead; that nobody has asked for its exit code is the business of process 1.
        alive = [row for row in rows if row[0] == str(group) and not row[1].startswith("Z")]
        if not alive or time.monotonic() >= deadline:
            return alive
        time.sleep(0.1)


# Several processes

RANDOM_POSTERIOR = bg.PosteriorProbability(bg.ClassifierPosterior(RandomForestClassifier(3), cv=2))
SHARED = {
    "a random rule": {name: (RandomForestClassifier(3), {}) for name in RESAMPLERS},
    "sampled points": {name: (KNeighborsClassifier(3), {"measure": bg.Bolstered(n_points=8)}) for name in RESAMPLERS},
    "a random posterior": {"cross-validation": (KNeighborsClassifier(3), {"measure": RANDOM_POSTERIOR})},
}


@pytest.mark.parametrize(("what", "name"), [(what, name) for what in SHARED for name in SHARED[what]])
def test_number_of_processes_changes_no_number(what, name):
    rule, given = SHARED[what][name]
    alone, shared = (RESAMPLERS[name](n_jobs=n_jobs, **given).error(rule, *sample()) for n_jobs in (1, 2))
    assert_same(alone, shared)


def test_threads_change_no_number():
    resampler = RESAMPLERS["632+ bootstrap"](n_jobs=2, measure=bg.Bolstered(n_points=8))
    with joblib.parallel_config(backend="threading"):
        shared = resampler.error(RandomForestClassifier(3), *sample())
    alone = RESAMPLERS["632+ bootstrap"](measure=bg.Bolstered(n_points=8)).error(RandomForestClassifier(3), *sample())
    assert_same(alone, shared)


def test_threads_are_used_where_the_configuration_says_so():
    """A rule that counts in this process sees its fits only if they are made here."""
    with joblib.parallel_config(backend="threading", n_jobs=2):
        RESAMPLERS["cross-validation"]().error(Scripted(), *sample())
    assert Plan.fits == 8


def test_results_come_in_the_order_of_the_splits_with_several_threads():
    alone, shared = RESAMPLERS["leave-one-out"](), RESAMPLERS["leave-one-out"](n_jobs=2)
    alone.error(KNeighborsClassifier(3), *sample())
    with joblib.parallel_config(backend="threading"):
        shared.error(KNeighborsClassifier(3), *sample())
    np.testing.assert_array_equal(alone.split_errors_, shared.split_errors_)


# Seeds


@every_resampler
def test_same_seed_gives_the_same_number_twice(name):
    resampler = RESAMPLERS[name]()
    assert_same(*(resampler.error(random_rule(), *sample()) for _ in range(2)))


@every_resampler
def test_seed_sequence_is_used_and_left_as_it_was(name):
    seed = np.random.SeedSequence(5)
    resampler = RESAMPLERS[name](random_state=seed)
    assert_same(*(resampler.error(random_rule(), *sample()) for _ in range(2)))
    assert seed.n_children_spawned == 0


@every_resampler
def test_number_in_the_call_overrides_that_of_the_constructor(name):
    in_call = RESAMPLERS[name](random_state=0).error(random_rule(), *sample(), random_state=7)
    in_constructor = RESAMPLERS[name](random_state=7).error(random_rule(), *sample())
    assert_same(in_call, in_constructor)


@randomly_splitting
def test_generator_in_the_call_advances(name):
    resampler, generator = RESAMPLERS[name](), np.random.default_rng(0)
    assert not same_splits(*(splits_of(resampler, random_state=generator) for _ in range(2)))


@randomly_splitting
def test_equal_generators_give_equal_splits(name):
    resampler = RESAMPLERS[name]()
    assert same_splits(*(splits_of(resampler, random_state=np.random.default_rng(3)) for _ in range(2)))


@randomly_splitting
def test_no_seed_gives_other_splits_every_time(name):
    resampler = RESAMPLERS[name](random_state=None)
    assert not same_splits(splits_of(resampler), splits_of(resampler))


@randomly_splitting
def test_other_seeds_give_other_splits(name):
    assert not same_splits(splits_of(RESAMPLERS[name](random_state=1)), splits_of(RESAMPLERS[name](random_state=2)))


def test_random_states_of_the_rule_that_are_set_are_kept():
    """Two forests with one seed are the same on every split, whatever the seed of the resampler."""
    rule = RandomForestClassifier(3, random_state=0)
    splits = [(np.arange(8), np.arange(8, 16))]
    one, other = (bg.CrossValidation().error(rule, *sample(), indices=splits, random_state=s).value for s in (1, 2))
    assert one == other


def test_parts_of_a_test_set_that_learn_follow_its_seed():
    """A posterior that is trained at random must be the same for the same `random_state`."""
    posterior = bg.ClassifierPosterior(RandomForestClassifier(3), cv=2)
    classifier = LinearDiscriminantAnalysis().fit(*sample(seed=1))
    test_set = bg.TestSet(*sample(), bg.PosteriorProbability(posterior), random_state=0)
    assert len({test_set.error(classifier).value for _ in range(6)}) == 1


def splits_of(resampler, **arguments):
    resampler.error(Scripted(), *sample(), **arguments)
    return resampler.indices_


def same_splits(one, other):
    return all(np.array_equal(a, b) for pair in zip(one, other, strict=True) for a, b in zip(*pair, strict=True))


# Fits that fail


@every_resampler
def test_exception_in_a_fit_names_the_split(name):
    resampler = RESAMPLERS[name]()
    planned(3, OSError)
    with pytest.raises(OSError, match="stop, says the test") as failure:
        resampler.error(Scripted(), *sample())
    number = 1 if name in ("632+ bootstrap", "calibrated") else 2
    train, test = resampler.indices_[number]
    expected = f"in split {number}: {len(train)} points to train on, {len(test)} held out."
    assert getattr(failure.value, "__notes__", []) == [expected]


def test_exception_in_another_process_names_the_split():
    with pytest.raises(ValueError, match="'C' parameter of LogisticRegression") as failure:
        bg.CrossValidation(4, n_jobs=2, random_state=0).error(LogisticRegression(C=-1.0), *sample())
    assert re.fullmatch(r"in split [0-3]: 12 points to train on, 4 held out\.", *failure.value.__notes__)


def test_exception_says_which_classes_there_were_to_train_on():
    X, y = sample()
    with pytest.raises(ValueError, match="at least 2 classes") as failure:
        bg.CrossValidation().error(LogisticRegression(), X, y, indices=[np.flatnonzero(y == 0)])
    assert failure.value.__notes__[0].endswith("the points to train on hold only [0]. Use stratified folds, or fewer.")


@every_resampler
def test_failure_does_not_spoil_the_next_call(name):
    resampler = RESAMPLERS[name]()
    planned(3, OSError)
    with pytest.raises(OSError, match="stop, says the test"):
        resampler.error(Scripted(), *sample())
    planned(None)
    assert_same(resampler.error(Scripted(), *sample()), RESAMPLERS[name]().error(Scripted(), *sample()))


# Progress


def test_progress_is_shown_where_it_is_asked_for(capsys):
    RESAMPLERS["cross-validation"](progress=True).error(Scripted(), *sample())
    assert "cross-validation" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("cross-validation", "cross-validation: 8 of 8 fits, done"),
        ("leave-one-out", "leave-one-out: 16 of 16 fits, done"),
        ("zero bootstrap", "bootstrap: 8 of 8 fits, done"),
        ("632+ bootstrap", "bootstrap: 9 of 9 fits, done"),
        ("calibrated", "calibration: 6 of 6 fits, done"),
    ],
)
def test_progress_names_the_work_and_counts_its_fits(name, line, capsys):
    RESAMPLERS[name](progress=True).error(Scripted(), *sample())
    assert capsys.readouterr().err.splitlines()[0] == line


def test_progress_goes_to_standard_error_only(capsys, monkeypatch):
    monkeypatch.setattr(work, "_SHOWN_AFTER", 0)
    RESAMPLERS["cross-validation"](progress=True).error(Scripted(), *sample())
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("progress", [None, False])
@every_resampler
def test_nothing_is_written_where_nobody_watches(name, progress, capsys, monkeypatch):
    monkeypatch.setattr(work, "_SHOWN_AFTER", 0)
    RESAMPLERS[name](progress=progress).error(Scripted(), *sample())
    assert capsys.readouterr() == ("", "")


def test_progress_is_shown_in_a_terminal_by_default(capsys, monkeypatch):
    monkeypatch.setattr(work, "_SHOWN_AFTER", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    RESAMPLERS["cross-validation"]().error(Scripted(), *sample())
    assert "cross-validation" in capsys.readouterr().err


def test_progress_can_be_turned_off_in_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(work, "_SHOWN_AFTER", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    RESAMPLERS["cross-validation"](progress=False).error(Scripted(), *sample())
    assert capsys.readouterr().err == ""


def test_short_work_shows_no_bar_in_a_terminal_by_default(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    RESAMPLERS["cross-validation"]().error(Scripted(), *sample())
    assert capsys.readouterr().err == ""


def test_bar_of_resumed_work_starts_where_it_was_interrupted(capsys, monkeypatch):
    monkeypatch.setattr(work, "_SHOWN_AFTER", 0)
    resampler = RESAMPLERS["cross-validation"](progress=True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    interrupted(resampler, 4)
    capsys.readouterr()
    resampler.resume()
    assert "3 of 8 fits" in capsys.readouterr().err


# What is left untouched


class Vandal(Scripted):
    """Overwrites the points that it is trained on."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y)
        for array in (X, y) if sample_weight is None else (X, y, sample_weight):
            array[:] = 0
        return self


@every_resampler
def test_rule_is_neither_trained_nor_changed(name):
    rule = RandomForestClassifier(3)
    before = repr(vars(rule))
    RESAMPLERS[name]().error(rule, *sample())
    with pytest.raises(NotFittedError, match="not fitted"):
        check_is_fitted(rule)
    assert repr(vars(rule)) == before


@every_resampler
def test_measure_is_neither_fitted_nor_changed(name):
    measure = bg.Bolstered(bg.DiagonalGaussian())
    before = repr(measure)
    RESAMPLERS[name](measure=measure).error(Scripted(), *sample())
    assert not hasattr(measure, "classes_")
    assert not hasattr(measure.kernel, "widths_")
    assert repr(measure) == before


@every_resampler
def test_data_stay_as_they_were_even_if_the_rule_overwrites_its_own(name):
    X, y = (array.copy() for array in sample())
    weights = np.linspace(1.0, 2.0, 16)
    given = (X.copy(), y.copy(), weights.copy())
    RESAMPLERS[name]().error(Vandal(), X, y, sample_weight=weights)
    for array, before in zip((X, y, weights), given, strict=True):
        np.testing.assert_array_equal(array, before)


@every_resampler
def test_rule_that_overwrites_its_points_changes_no_number(name):
    harmless = RESAMPLERS[name]().error(Scripted(), *sample())
    assert_same(RESAMPLERS[name]().error(Vandal(), *sample()), harmless)


@every_resampler
def test_data_may_be_read_only(name):
    X, y = (array.copy() for array in sample())
    for array in (X, y):
        array.setflags(write=False)
    assert_same(
        RESAMPLERS[name]().error(Scripted(), X, y),
        RESAMPLERS[name]().error(Scripted(), *sample()),
    )


@every_resampler
def test_resampler_itself_keeps_its_parameters(name):
    resampler = RESAMPLERS[name]()
    before = repr(resampler), resampler.get_params()
    resampler.error(Scripted(), *sample())
    assert (repr(resampler), resampler.get_params()) == before


def test_kind_of_a_bootstrap_is_kept_where_several_are_asked_for():
    resampler = bg.Bootstrap("zero", 4, random_state=0)
    resampler.errors(Scripted(), *sample())
    assert resampler.kind == "zero"


# Resamplers as scikit-learn objects

CHANGED = {
    "cross-validation": bg.CrossValidation(5, 3, stratified=False, measure=bg.Bolstered(n_points=16), random_state=1),
    "leave-one-out": bg.LeaveOneOut(class_prior={0: 0.3, 1: 0.7}, n_jobs=1),
    "bootstrap": bg.Bootstrap("zero", 9, clip="none", sampling="separate", class_prior=[0.3, 0.7], random_state=1),
    "calibrated": bg.Calibrated(bg.Bolstered(bg.UniformBall()), 3, test_size=0.3, step=0.25, max_kappa=2.0),
}
REPRESENTATIONS = {
    "cross-validation": "CrossValidation(folds=5, measure=Bolstered(n_points=16), random_state=1, repeats=3, "
    "stratified=False)",
    "leave-one-out": "LeaveOneOut(class_prior={0: 0.3, 1: 0.7}, n_jobs=1)",
    "bootstrap": "Bootstrap(class_prior=[0.3, 0.7], clip='none', kind='zero', n_resamples=9, random_state=1, "
    "sampling='separate')",
    "calibrated": "Calibrated(max_kappa=2.0, measure=Bolstered(kernel=UniformBall()), repeats=3, step=0.25, "
    "test_size=0.3)",
}
every_changed = pytest.mark.parametrize("name", CHANGED)


@every_changed
def test_clone_has_the_same_parameters(name):
    assert {key: repr(value) for key, value in clone(CHANGED[name]).get_params().items()} == {
        key: repr(value) for key, value in CHANGED[name].get_params().items()
    }


@every_changed
def test_clone_of_a_used_resampler_is_unused(name):
    resampler = clone(CHANGED[name])
    resampler.error(Scripted(), *sample())
    with pytest.raises(NotFittedError, match="has not been used"):
        clone(resampler).partial()


@every_changed
def test_representation_names_what_was_changed(name):
    assert " ".join(repr(CHANGED[name]).split()) == REPRESENTATIONS[name]


@every_changed
def test_parameters_can_be_set_by_name(name):
    resampler = clone(CHANGED[name]).set_params(n_jobs=2, progress=False)
    assert (resampler.n_jobs, resampler.progress) == (2, False)


def test_parameters_of_the_measure_can_be_set_by_name():
    resampler = clone(CHANGED["calibrated"]).set_params(measure__n_points=128, measure__kernel__scale=2.0)
    assert (resampler.measure.n_points, resampler.measure.kernel.scale) == (128, 2.0)


def test_parameters_set_after_use_hold_for_the_next_call():
    resampler = bg.CrossValidation(4, random_state=0)
    resampler.error(Scripted(), *sample())
    resampler.set_params(folds=6).error(Scripted(), *sample())
    assert len(resampler.indices_) == 6


@every_changed
def test_unknown_parameter_is_refused(name):
    with pytest.raises(ValueError, match="Invalid parameter 'k' for estimator"):
        clone(CHANGED[name]).set_params(k=3)


@every_resampler
def test_pickled_resampler_gives_the_same_number(name):
    unpickled = pickle.loads(pickle.dumps(RESAMPLERS[name]()))
    assert_same(unpickled.error(Scripted(), *sample()), RESAMPLERS[name]().error(Scripted(), *sample()))


@every_resampler
def test_used_resampler_can_be_pickled(name):
    resampler = RESAMPLERS[name]()
    resampler.error(KNeighborsClassifier(3), *sample())
    unpickled = pickle.loads(pickle.dumps(resampler))
    np.testing.assert_array_equal(unpickled.split_errors_, resampler.split_errors_)


def test_interrupt_can_be_pickled_with_its_partial_result():
    stop = pickle.loads(pickle.dumps(bg.Interrupted("stopped after 3 of 10 fits", lambda: 0.25)))
    assert (str(stop), stop.partial) == ("stopped after 3 of 10 fits", 0.25)


@pytest.mark.parametrize(
    "copied", [clone, lambda test_set: pickle.loads(pickle.dumps(test_set))], ids=["clone", "pickle"]
)
def test_copied_test_set_gives_the_same_number(copied):
    classifier = KNeighborsClassifier(3).fit(*sample(seed=1))
    test_set = bg.TestSet(*sample(), bg.Bolstered(), sample_weight=np.arange(16.0), random_state=0)
    assert copied(test_set).error(classifier).value == test_set.error(classifier).value


# Further calls, and what they leave behind


@every_resampler
def test_used_resampler_works_on_other_data(name):
    resampler = RESAMPLERS[name]()
    resampler.error(Scripted(), *sample())
    other = sample(24, seed=1)
    assert_same(resampler.error(Scripted(), *other), RESAMPLERS[name]().error(Scripted(), *other))


@every_resampler
def test_results_are_those_of_the_last_call(name):
    resampler, fresh = RESAMPLERS[name](), RESAMPLERS[name]()
    resampler.error(Scripted(), *sample(24, seed=1))
    resampler.error(Scripted(), *sample())
    fresh.error(Scripted(), *sample())
    np.testing.assert_array_equal(resampler.split_errors_, fresh.split_errors_)


REFUSED = {
    "cross-validation": lambda resampler, X, y: resampler.error(Scripted(), X[:3], y[:3]),
    "zero bootstrap": lambda resampler, X, y: resampler.error(Scripted(), X[:2], y[:2]),
    "calibrated": lambda resampler, X, y: resampler.error(Scripted(), X[:4], y[:4]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_call_that_is_refused_leaves_the_last_results(name):
    resampler = RESAMPLERS[name]()
    before = resampler.error(Scripted(), *sample())
    with pytest.raises(ValueError, match=r"Lower folds|Add points"):
        REFUSED[name](resampler, *sample())
    assert_same(resampler.partial(), before)


def test_estimate_of_its_own_kind_can_be_asked_for_after_others():
    resampler = bg.Bootstrap("632", 6, random_state=0)
    resampler.errors(Scripted(), *sample(), kinds=["zero"])
    assert resampler.partial().value == bg.Bootstrap("632", 6, random_state=0).error(Scripted(), *sample()).value


@every_resampler
def test_splits_can_be_replayed(name):
    resampler = RESAMPLERS[name]()
    first = resampler.error(random_rule(), *sample())
    again = RESAMPLERS[name]().error(random_rule(), *sample(), indices=resampler.indices_)
    assert again.value == pytest.approx(first.value, abs=1e-14)


@every_resampler
def test_number_of_splits(name):
    resampler = RESAMPLERS[name]()
    resampler.error(Scripted(), *sample())
    assert len(resampler.indices_) == len(resampler.split_errors_) == N_SPLITS[name]


@every_resampler
def test_no_row_is_on_both_sides_of_a_split(name):
    resampler = RESAMPLERS[name]()
    resampler.error(Scripted(), *sample())
    assert not any(np.isin(train, test).any() for train, test in resampler.indices_)


@every_resampler
def test_every_row_is_on_one_side_of_a_split(name):
    resampler = RESAMPLERS[name]()
    resampler.error(Scripted(), *sample())
    for train, test in resampler.indices_:
        np.testing.assert_array_equal(np.union1d(train, test), np.arange(16))


@every_resampler
def test_splits_name_rows_as_given_where_some_have_no_weight(name):
    resampler, weights = RESAMPLERS[name](), (np.arange(16) % 4 > 0) * 1.0
    resampler.error(Vandal(), *sample(), sample_weight=weights)
    named = np.unique(np.concatenate([rows for split in resampler.indices_ for rows in split]))
    np.testing.assert_array_equal(named, np.flatnonzero(weights))


@pytest.mark.parametrize("name", ["zero bootstrap", "632+ bootstrap"])
def test_resamples_hold_as_many_rows_as_there_are(name):
    resampler = RESAMPLERS[name]()
    resampler.error(Scripted(), *sample())
    assert {len(train) for train, _ in resampler.indices_} == {16}


@every_resampler
def test_errors_of_splits_are_those_of_the_rule_trained_on_one_side(name):
    X, y = sample()
    resampler = RESAMPLERS[name]()
    resampler.error(Scripted(), X, y)
    by_hand = [
        np.mean(Scripted().fit(X[train], y[train]).predict(X[test]) != y[test]) for train, test in resampler.indices_
    ]
    np.testing.assert_allclose(resampler.split_errors_, by_hand, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["cross-validation", "leave-one-out", "zero bootstrap"])
def test_row_held_out_twice_by_one_split_is_refused(name):
    splits = [(np.arange(8), [8, 9, 10]), (np.arange(8, 16), [0, 1, 1, 2])]
    with pytest.raises(ValueError, match="entry 1 names one twice"):
        RESAMPLERS[name]().error(Scripted(), *sample(), indices=splits)


UNUSED = {
    "partial": lambda resampler: resampler.partial(),
    "resume": lambda resampler: resampler.resume(),
    "splits": lambda resampler: resampler.indices_,
    "errors of splits": lambda resampler: resampler.split_errors_,
}


@pytest.mark.parametrize("question", UNUSED)
@every_resampler
def test_unused_resampler_has_nothing_to_tell(name, question):
    with pytest.raises(NotFittedError, match=r"has not been used; call error\(rule, X, y\) first"):
        UNUSED[question](RESAMPLERS[name]())


def test_unused_bootstrap_has_redrawn_nothing_yet():
    with pytest.raises(NotFittedError, match=r"has not been used; call error\(rule, X, y\) first"):
        _ = bg.Bootstrap().n_redrawn_


# Resamples that are drawn anew


def rare(n_rare=2):
    X, _ = sample()
    return X[:12], (np.arange(12) < n_rare).astype(int)


def test_resamples_that_lose_a_class_are_counted():
    """Of 100 resamples of 12 points, 2 of them rare, 11 are expected to lose these; none does with chance 7e-6."""
    resampler = bg.Bootstrap("zero", 100, random_state=0)
    resampler.error(Scripted(), *rare())
    assert resampler.n_redrawn_ > 0


def test_no_resample_that_is_kept_loses_a_class():
    resampler, (X, y) = bg.Bootstrap("zero", 100, random_state=0), rare()
    resampler.error(Scripted(), X, y)
    assert all(y[train].any() for train, _ in resampler.indices_)


def test_resamples_hold_two_points_of_every_class_where_widths_are_learned():
    resampler, (X, y) = bg.Bootstrap("zero", 20, measure=bg.Bolstered(), random_state=0), rare(3)
    resampler.error(Scripted(), X, y)
    assert min(len(np.unique(train[y[train] == 1])) for train, _ in resampler.indices_) == 2


def test_estimate_says_how_many_resamples_were_drawn_anew():
    resampler = bg.Bootstrap("zero", 20, random_state=0)
    estimate = resampler.error(Scripted(), *rare())
    assert estimate.details["resamples_redrawn"] == resampler.n_redrawn_


def test_nothing_is_drawn_anew_where_splits_are_given():
    resampler = bg.Bootstrap("zero", 20, random_state=0)
    resampler.error(Scripted(), *rare())
    resampler.error(Scripted(), *rare(), indices=resampler.indices_)
    assert resampler.n_redrawn_ == 0


def test_nothing_is_drawn_anew_where_classes_are_drawn_apart():
    resampler = bg.Bootstrap("zero", 20, sampling="separate", random_state=0)
    resampler.error(Scripted(), *rare())
    assert resampler.n_redrawn_ == 0


def test_several_kinds_from_one_bootstrap_in_threads_are_those_of_each_call():
    bootstrap = bg.Bootstrap(n_resamples=10, random_state=0)
    samples = [sample(seed=seed) for seed in range(4)]

    def values(data):
        return {kind: one.value for kind, one in bootstrap.errors(KNeighborsClassifier(3), *data).items()}

    alone = [values(data) for data in samples]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(values, samples)) == alone


class Unsendable(KNeighborsClassifier):
    """A classifier that cannot be sent to another process."""

    def __reduce__(self):
        raise AssertionError("the classifier was pickled")


@pytest.mark.parametrize("name", ["cross-validation", "632+ bootstrap", "calibrated"])
def test_classifier_given_is_not_sent_to_other_processes(name):
    classifier = Unsendable(3).fit(*sample())
    two = RESAMPLERS[name](n_jobs=2).error(KNeighborsClassifier(3), *sample(), classifier=classifier)
    one = RESAMPLERS[name]().error(KNeighborsClassifier(3), *sample(), classifier=classifier)
    assert two.value == one.value


def test_partial_leave_one_out_of_sorted_classes_has_points_of_each():
    X, y = sample(24)
    order = np.argsort(y, kind="stable")
    partial = interrupted(
        bg.LeaveOneOut(class_prior=[0.5, 0.5]), 9, lambda loo: loo.error(Scripted(), X[order], y[order])
    ).partial
    assert not np.isnan(list(partial.per_class.values())).any()


def test_partial_result_that_lacks_a_class_of_known_probability_is_none():
    X, y = sample()
    alike = [np.delete(np.arange(16), number) for number in np.flatnonzero(y == 0)]
    stop = interrupted(
        bg.CrossValidation(class_prior=[0.5, 0.5]), 3, lambda cv: cv.error(Scripted(), X, y, indices=alike)
    )
    assert stop.partial is None
