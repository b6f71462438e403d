"""Reasons and estimands are values: equal by what they hold, kept by JSON, and free to be reworded."""

import ast
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import bayes_gresub as bg
from bayes_gresub.cli import console
from bayes_gresub.cli.report import print_table
from bayes_gresub.cli.tables import Table, read_table
from bayes_gresub.estimate import estimands, reasons
from bayes_gresub.estimate.reasons import Missing, NotAdditive, TooFewResamples, TrainedOnThesePoints, Unfinished
from bayes_gresub.estimate.worded import Worded

ROOT = Path(bg.__file__).parent

NUMBERS = {"done": 30, "total": 200, "least": 50, "n_points": 60, "fewest": 48, "most": 50}
NUMBERS |= {"n_distinct": 38, "n_trained": 54, "n_centers": 40, "n_members": 18, "n_total": 50}
NUMBERS |= {"n_repeats": 10, "end_noise": 0.02, "width": 0.1, "seconds": 60.0}


def kinds(module, parent):
    return [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, parent)]


def examples():
    """Return one value of every kind of reason and estimand."""
    values = []
    for module, parent in ((reasons, reasons.Reason), (estimands, estimands.Estimand)):
        for kind in kinds(module, parent):
            if kind is not parent:
                fields = kind.__dataclass_fields__
                values.append(kind(**{name: number for name, number in NUMBERS.items() if name in fields}))
    return values


every_value = pytest.mark.parametrize("value", examples(), ids=lambda value: type(value).__name__)


@every_value
def test_values_of_the_same_kind_and_numbers_are_equal(value):
    assert value == type(value)(**vars(value))


@every_value
def test_values_of_different_kinds_differ(value):
    assert [other for other in examples() if other == value] == [value]


@every_value
def test_sentence_has_no_full_stop_and_no_gap(value):
    assert not value.sentence.endswith(".")
    assert "{" not in value.sentence + value.short


@every_value
def test_value_survives_a_dictionary(value):
    assert type(value).from_dict(value.to_dict()) == value


@every_value
def test_sentence_in_a_file_is_not_read(value):
    assert Worded.from_dict(value.to_dict() | {"sentence": "in other words"}) == value


def test_numbers_are_part_of_the_value():
    assert TooFewResamples(50) != TooFewResamples(60)
    assert str(TooFewResamples(60)) == "the delta method after bootstrap needs at least 60 resamples"


def test_units_are_named():
    assert str(Unfinished(2, 5, "repeats")) == "2 of 5 repeats are done"


def test_missing_survives_a_dictionary():
    missing = Missing(std_error=Unfinished(30, 200), confusion=NotAdditive())
    assert Missing.from_dict(missing.to_dict()) == missing


def test_class_probabilities_are_part_of_an_estimand():
    estimand = estimands.ThisClassifier().with_class_probabilities(np.array(["no", "yes"]), np.array([0.9, 0.1]))
    assert str(estimand) == f"{estimands.ThisClassifier()}, with class probabilities no: 0.9, yes: 0.1"
    assert estimands.Estimand.from_dict(estimand.to_dict()) == estimand


def test_other_class_probabilities_replace_the_first():
    classes = np.array([0, 1])
    once = estimands.RuleTrainedOn(60).with_class_probabilities(classes, np.array([0.5, 0.5]))
    twice = once.with_class_probabilities(classes, np.array([0.2, 0.8]))
    assert twice == estimands.RuleTrainedOn(60, class_probabilities=((0, 0.2), (1, 0.8)))


@cache
def table() -> Table:
    return read_table("iris")


@cache
def compared():
    names = ["resub", "bolstered", "bayesian", "cv", "nested-cv", "loo", "boot-632", "boot-632+"]
    settings = {"bayesian": bg.Bayesian(sampler="gibbs", draws=100), "boot-632+": bg.Bootstrap("632+", 60)}
    settings["boot-632"] = bg.Bootstrap("632", 60)
    chosen = {name: settings.get(name, name) for name in names}
    return bg.compare(LinearDiscriminantAnalysis(), table().X, table().y, chosen, random_state=0)


@pytest.fixture
def reworded(monkeypatch):
    """Give every reason and estimand other words."""
    compared()
    for value in examples():
        monkeypatch.setattr(type(value), "words", f"new words of {type(value).__name__}")
        monkeypatch.setattr(type(value), "brief", "")


def printed():
    lines = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(console, "note", lambda text, mark="- ": lines.append(mark + text))
        print_table(compared(), table(), None)
    return lines


@pytest.mark.usefixtures("reworded")
def test_rewording_is_seen():
    assert str(compared()["resub"].no_interval) == "new words of TrainedOnThesePoints"


def test_rewording_changes_nothing_but_the_words(monkeypatch, request):
    frame, notes, text = compared().to_frame(), printed(), compared().text_table(("name", "error", "interval"))
    request.getfixturevalue("reworded")
    words = ["no_interval", "estimand"]
    pd.testing.assert_frame_equal(compared().to_frame().drop(columns=words), frame.drop(columns=words))
    assert compared().text_table(("name", "error", "interval")) == text
    same = [line for line in notes if line.startswith("- ")]
    assert [line for line in printed() if line.startswith("- ")] == same


@pytest.mark.usefixtures("reworded")
def test_reworded_reasons_are_still_read_from_files():
    back = bg.ErrorEstimate.from_json(compared()["resub"].to_json())
    assert back.no_interval == TrainedOnThesePoints()


MATCHING = {"startswith", "endswith", "partition", "rpartition", "removeprefix", "removesuffix", "search", "fullmatch"}
BRANCHING = [*(ROOT / "estimate").glob("*.py"), *(ROOT / "comparing").glob("*.py"), ROOT / "cli/report.py"]


@pytest.mark.parametrize("path", BRANCHING, ids=lambda path: path.name)
def test_no_code_matches_sentences(path):
    attributes = [node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)]
    assert MATCHING.intersection(attributes) == set()


@cache
def without_errors(name):
    """Return the estimate of one estimator for classes so far apart that nothing is misclassified."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 2)) + 30 * y[:, None]
    classifier = LinearDiscriminantAnalysis()
    if name == "test set":
        return bg.TestSet(X, y).error(classifier.fit(X, y))
    estimator = bg.make_estimator(name, random_state=0)
    if hasattr(estimator, "fit"):
        return estimator.fit(X, y).error(classifier.fit(X, y))
    return estimator.error(classifier, X, y)


COUNTING = ["test set", "resub", "bolstered", "3nn-pp", "bolstered-3nn-pp", "cv", "nested-cv", "loo", "boot-632"]


@pytest.mark.parametrize("name", COUNTING)
def test_estimate_without_errors_has_an_interval_or_a_reason_in_words(name):
    estimate = without_errors(name)
    assert float(estimate) == pytest.approx(0, abs=1e-12)
    if estimate.no_interval is None:
        low, high = estimate.interval()
        assert 0 <= low <= high <= 1
    else:
        with pytest.raises(ValueError, match=r"no interval is offered for this estimate: [a-z].{20,}"):
            estimate.interval()


@pytest.mark.parametrize("name", COUNTING)
def test_estimate_without_draws_gives_a_reason_why_it_has_no_probability(name):
    with pytest.raises(ValueError, match=r"this estimate has none: [a-z].{20,}\. Use a measure that draws"):
        without_errors(name).probability_below(0.1)


def test_interval_over_samples_is_no_probability_of_the_error():
    with pytest.raises(ValueError, match=r"covers the error in a share of samples.* Read interval\(\) instead"):
        without_errors("test set").probability_below(0.1)
