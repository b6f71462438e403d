"""`study`: the paper's experiments and studies of tables, resumable, with what was found and where it is."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import bayes_gresub as bg
from bayes_gresub.cli import app

SMALL = ("--target", "kind", "--classifier", "lda", "--estimators", "resub,3nn-pp", "--sizes", "10,14", "--out", "runs")


@pytest.fixture
def small(run, flowers, monkeypatch):
    """Return a function that runs a small study, without figures, which take most of the time."""
    monkeypatch.setattr(bg.StudyResults, "save", lambda self, folder: None)
    return lambda *options: run("study", flowers, *SMALL, *(options or ("--repetitions", "3")))


@pytest.fixture(scope="module")
def whole(flowers_file, tmp_path_factory):
    """Return what a small study printed, and its folder."""
    folder = tmp_path_factory.mktemp("study") / "runs"
    arguments = ["study", str(flowers_file), *SMALL[:-1], str(folder), "--repetitions", "3"]
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "200"}), folder


def refused(result):
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    return result.stderr


def test_the_summary_has_a_row_for_every_estimator(whole):
    lines = whole[0].stdout.splitlines()
    assert [line.split()[0] for line in lines if line.startswith(("resub", "3nn-pp"))] == ["resub", "3nn-pp"]


def test_numbers_are_those_of_the_study(whole):
    results = bg.StudyResults.load(whole[1])
    printed = next(line for line in whole[0].stdout.splitlines() if line.startswith("3nn-pp")).split()[1:]
    rms = results.summary("rms")["rms"]
    assert printed == [f"{rms['lda', n, '3nn-pp']:.3f}" for n in (10, 14)]


@pytest.mark.parametrize("name", ["summary.csv", "timing.csv", "rms.png", "bias.svg"])
def test_tables_and_figures_are_in_the_folder(whole, name):
    assert (whole[1] / name).stat().st_size > 0


def test_it_says_where_things_are(whole):
    assert str(whole[1] / "summary.csv") in whole[0].stdout


def test_a_second_run_adds_to_the_first(small):
    small()
    before = Path("runs/design.json").stat().st_mtime_ns
    found = small("--repetitions", "4")
    assert found.exit_code == 0
    assert len(bg.StudyResults.load("runs").records) == 8
    assert Path("runs/design.json").stat().st_mtime_ns > before


def test_several_classifiers_share_one_table(small):
    result = small("--repetitions", "2", "--classifier", "lda,3nn")
    assert "mean over the sizes" in result.stdout


def test_interrupt_says_what_is_done_and_how_to_go_on(small, monkeypatch):
    from bayes_gresub.studies import engines

    done = []

    def interrupted(job, task, names, run_task=engines.run_task):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(task)
        return run_task(job, task, names)

    monkeypatch.setattr(engines, "run_task", interrupted)
    result = small()
    assert (result.exit_code, "stopped after 2 of 6 tasks" in result.stderr) == (130, True)
    assert "run again to go on" in result.stderr


def test_prepared_rows_are_the_population(small, run, mixed):
    options = ("--target", "kind", "--classifier", "lda", "--estimators", "resub", "--sizes", "20", "--out", "runs")
    result = run("study", mixed, *options, "--repetitions", "2", "--prepare")
    assert "The population is the prepared rows" in " ".join(result.stdout.split())
    assert result.exit_code == 0


def test_columns_that_need_preparation_are_named(run, mixed):
    assert "text in colour" in refused(run("study", mixed, "--target", "kind", "--out", "runs"))


@pytest.mark.parametrize("name", ["synthetic", "digits"])
def test_published_experiments_are_run(run, name, monkeypatch):
    begun = []

    def noted(self, folder, **options):
        begun.append((len(self.estimators), self.repetitions, str(folder), options["n_jobs"]))
        raise KeyboardInterrupt

    monkeypatch.setattr(bg.Study, "run", noted)
    assert run("study", name, "--repetitions", "7", "--out", "runs", "--jobs", "2").exit_code == 130
    assert begun == [(17 if name == "synthetic" else 7, 7, "runs", 2)]


def test_published_experiments_take_no_options_of_tables(run):
    assert "--sizes are for a table" in refused(run("study", "synthetic", "--sizes", "20", "--out", "runs"))


def test_mnist_without_its_files_is_refused(run, monkeypatch):
    monkeypatch.delenv("BAYES_GRESUB_MNIST", raising=False)
    assert "no folder with the MNIST files was named" in refused(run("study", "mnist", "--out", "runs"))


def test_folder_of_something_else_is_refused(run, flowers):
    Path("other").mkdir()
    Path("other/thing.txt").touch()
    assert "must be empty or hold a study" in refused(run("study", flowers, *SMALL[:-1], "other"))


def test_sizes_that_leave_nothing_to_judge_by(run, flowers):
    options = ("--target", "kind", "--out", "runs", "--sizes", "29")
    assert "leave at least two of the 30 rows" in refused(run("study", flowers, *options))


def test_sizes_that_are_no_numbers(run, flowers):
    assert "--sizes must be whole numbers" in refused(
        run("study", flowers, "--target", "kind", "--out", "x", "--sizes", "few")
    )


def test_too_few_rows_for_the_default_sizes(run, flowers):
    assert "at least 40 rows" in refused(run("study", flowers, "--target", "kind", "--out", "runs"))


def test_cluster_that_does_not_answer(run, flowers, monkeypatch):
    import distributed

    def silent(*args, **kwargs):
        raise OSError("timed out")

    monkeypatch.setattr(distributed, "Client", silent)
    result = run("study", flowers, *SMALL, "--cluster", "tcp://127.0.0.1:1")
    assert "no scheduler responds at tcp://127.0.0.1:1" in refused(result)
