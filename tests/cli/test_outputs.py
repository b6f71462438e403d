"""Files that are written: refused before the work, replaced only if wanted, and whole or not at all."""

import os
from pathlib import Path

import pytest

import bayes_gresub as bg
from bayes_gresub.cli.files import check_outputs, replacing

OUTPUTS = ("--json", "--csv", "--netcdf", "--plot")


def refused(result):
    """Return the message of a command that was refused."""
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    return result.stderr


@pytest.fixture
def judge(run, flowers):
    return lambda *options: run("estimate", flowers, "--target", "kind", "--estimators", "resub", *options)


@pytest.fixture
def no_work(monkeypatch):
    """Make every computation fail."""

    def worked(*args, **kwargs):
        raise AssertionError("nothing must be computed")

    monkeypatch.setattr("bayes_gresub.comparing.compare", worked)
    monkeypatch.setattr("bayes_gresub.cli.tables.read_table", worked)
    monkeypatch.setattr("bayes_gresub.cli.demo_command.compare_on_breast_cancer", worked)


@pytest.mark.parametrize("place", ["flowers.csv", "./flowers.csv", "folder/../flowers.csv", "link.csv", "hard.csv"])
def test_an_output_that_is_the_data_file_is_refused(judge, no_work, flowers, place):
    Path("folder").mkdir()
    Path("link.csv").symlink_to(flowers)
    Path("hard.csv").hardlink_to(flowers)
    before = flowers.read_bytes()
    assert "--csv must not be the data file" in refused(judge("--csv", place, "--force"))
    assert flowers.read_bytes() == before


def test_an_output_that_is_the_model_file_is_refused(judge, no_work):
    Path("model.skops").write_bytes(b"trained for days")
    said = refused(judge("--model", "model.skops", "--json", "model.skops", "--force"))
    assert "--json must not be the model file" in said
    assert Path("model.skops").read_bytes() == b"trained for days"


@pytest.mark.parametrize("second", ["out.json", "./out.json"])
def test_one_file_for_two_outputs_is_refused(judge, no_work, second):
    assert "--json and --csv are both out.json" in refused(judge("--json", "out.json", "--csv", second))


@pytest.mark.parametrize("option", OUTPUTS)
def test_an_existing_file_is_kept_without_force(judge, no_work, option):
    Path("out.png").write_text("before")
    assert "is replaced only with --force" in refused(judge(option, "out.png"))
    assert Path("out.png").read_text() == "before"


def test_an_existing_file_is_replaced_with_force(judge):
    Path("out.json").write_text("before")
    assert judge("--json", "out.json", "--force").exit_code == 0
    assert Path("out.json").read_text().startswith("{")


def test_the_demo_keeps_a_figure_without_force(run, no_work):
    Path("demo.png").write_text("before")
    assert "is replaced only with --force" in refused(run("demo"))


def test_make_demo_replaces_its_figure():
    makefile = Path(bg.__file__).parents[1] / "Makefile"
    command = next(line for line in makefile.read_text().splitlines() if "bayes-gresub demo" in line)
    assert command.endswith("--force")


def test_a_pipe_is_refused(judge, no_work):
    os.mkfifo("pipe.json")
    assert "must be an ordinary file; pipe.json is a pipe or a device" in refused(
        judge("--json", "pipe.json", "--force")
    )


@pytest.mark.parametrize("device", ["/dev/null", "/dev/stdout", "/dev/full"])
def test_a_device_is_refused(judge, no_work, device):
    assert f"{device} is a pipe or a device" in refused(judge("--json", device, "--force"))


def test_checking_leaves_nothing_behind(tmp_path):
    check_outputs({"--json": tmp_path / "out.json"})
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_finished_leaves_what_was_there(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("before")

    def write():
        with replacing(path, force=True) as beside:
            beside.write_text("half")
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        write()
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("out.txt", "before")]


def test_what_was_there_stays_while_the_new_file_is_written(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("before")
    with replacing(path, force=True) as beside:
        beside.write_text("half")
        assert path.read_text() == "before"
    assert path.read_text() == "half"


def test_a_file_that_appears_meanwhile_is_kept_and_so_is_the_result(tmp_path):
    path = tmp_path / "out.txt"

    def write():
        with replacing(path) as beside:
            beside.write_text("result")
            path.write_text("other")

    with pytest.raises(ValueError, match="written by another program in the meantime"):
        write()
    assert sorted(file.read_text() for file in tmp_path.iterdir()) == ["other", "result"]


def test_new_files_have_the_permissions_of_new_files(tmp_path):
    with replacing(tmp_path / "out.txt") as beside:
        beside.write_text("text")
    (tmp_path / "plain.txt").write_text("text")
    assert (tmp_path / "out.txt").stat().st_mode == (tmp_path / "plain.txt").stat().st_mode


def test_replaced_files_keep_their_permissions(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("before")
    path.chmod(0o640)
    with replacing(path, force=True) as beside:
        beside.write_text("after")
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.txt").write_text("before")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    with replacing(tmp_path / "link.txt", force=True) as beside:
        beside.write_text("after")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "after"


def test_the_table_is_printed_even_if_a_file_cannot_be_written(judge, monkeypatch):
    def full(self, *args, **kwargs):
        raise OSError("no space left on the device")

    monkeypatch.setattr("bayes_gresub.cli.estimate_command.as_json", full)
    result = judge("--json", "out.json")
    assert (result.exit_code, "no space left" in result.stderr) == (2, True)
    assert "majority class" in result.stdout


@pytest.mark.parametrize("option", OUTPUTS)
def test_every_kind_of_file_is_written_whole(run, flowers, tmp_path, option):
    name = {"--json": "o.json", "--csv": "o.csv", "--netcdf": "o.nc", "--plot": "o.svg"}[option]
    result = run("estimate", flowers, "--target", "kind", "--estimators", "bayesian", option, name)
    assert result.exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["flowers.csv", name])
