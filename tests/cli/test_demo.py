"""`demo`: the answer and every main estimator on embedded data, beside the truth, with a figure."""

import pytest
from typer.testing import CliRunner

import bayes_gresub as bg
from bayes_gresub.cli import app
from bayes_gresub.cli.demo_command import compare_on_breast_cancer

NAMES = [entry.name for entry in bg.estimators() if entry.main]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo") / "figure.png"
    arguments = ["demo", "--plot", str(path), "--size", "30"]
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "80"}), path


def first_words(output):
    return [line.split()[0] for line in output.splitlines() if line.split()]


def test_demo_ends_without_error(demo):
    assert demo[0].exit_code == 0


def test_demo_prints_a_row_for_every_main_estimator(demo):
    assert set(NAMES) <= set(first_words(demo[0].output))


def test_demo_prints_the_answer_first(demo):
    text = " ".join(demo[0].output.split())
    assert text.index("Of 100 new rows of this kind about") < text.index("estimator error")


def test_demo_fits_in_80_columns(demo):
    path = str(demo[1])
    assert max(len(line) for line in demo[0].output.splitlines() if path not in line) <= 80


@pytest.mark.parametrize("words", ["held-out error", "majority class"])
def test_demo_prints_what_to_compare_with(demo, words):
    assert words in demo[0].output


def test_demo_writes_a_png(demo):
    assert demo[1].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_demo_says_where_the_figure_is(demo):
    assert demo[1].name in demo[0].output


def test_demo_is_seeded():
    one, same = (
        compare_on_breast_cancer(size=30, seed=2, estimators=["bolstered", "cv", "bayesian"]) for _ in range(2)
    )
    values = [[row.estimate.value for row in result.rows] for result in (one, same)]
    assert values[0] == values[1]


def test_demo_of_too_few_points_is_refused(run):
    assert run("demo", "--size", "3").exit_code == 2


def test_demo_in_no_folder_is_refused(run):
    assert "--plot cannot be written" in run("demo", "--plot", "no/such/figure.png").stderr
