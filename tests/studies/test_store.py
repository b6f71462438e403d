"""The run folder: whose it is, damaged files, a full disk, and what may be added to it."""

from __future__ import annotations

import errno
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg
from bayes_gresub.studies import locks
from bayes_gresub.studies.store import RunFolder

POPULATION = bg.datasets.PaperGaussian(n_informative=2, n_noise=2)
LDA = LinearDiscriminantAnalysis()


def study(**given):
    design = {
        "population": POPULATION,
        "rules": {"LDA": LDA, "3NN": KNeighborsClassifier(3)},
        "estimators": {"resub": "resub", "bolstered": "bolstered", "cv": bg.CrossValidation(3)},
        "sample_sizes": [12, 16],
        "repetitions": 2,
        "seed": 1,
    }
    return bg.Study(**(design | given))


def numbers(results):
    """Return all that must not depend on how a study is run."""
    return results.to_xarray().drop_vars("seconds")


@functools.cache
def whole():
    return numbers(study().run())


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "run"
    study().run(folder)
    return folder


@pytest.fixture
def folder(made_once, tmp_path):
    """Return a folder in which the study is done."""
    return Path(shutil.copytree(made_once, tmp_path / "run"))


def part_files(folder):
    return sorted(folder.glob("tasks/*/*/*.json"))


def part_of(folder, rule="LDA", n=12, repetition=0):
    (found,) = folder.glob(f"tasks/{rule}-*/{n}/{repetition}.json")
    return found


def content(folder):
    """Return every file of a folder, hidden ones too, with what is in it and when it was written."""
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


def hidden(folder):
    """Return the hidden files of a folder, except the one that is locked while others are written."""
    return [path.name for path in folder.rglob(".*") if path.name != ".lock"]


# What is in it


def test_there_is_one_file_for_each_task(folder):
    assert len(part_files(folder)) == len(study().tasks) == 8


def test_no_temporary_file_is_left(folder):
    assert hidden(folder) == []


def test_a_folder_is_made_with_those_above_it(tmp_path):
    study(repetitions=1).run(tmp_path / "a" / "b")
    assert len(part_files(tmp_path / "a" / "b")) == 4


def test_a_folder_can_be_named_by_a_string(tmp_path):
    study(repetitions=1).run(str(tmp_path / "run"))
    assert len(part_files(tmp_path / "run")) == 4


NAMES = [
    "a/b",
    "a b",
    "A B",
    "a_b",
    "../up",
    "..",
    ".",
    "",
    "gestützt",
    "x" * 300,
    "x" * 299 + "y",
    "new\nline",
    "null\0",
]


def test_rules_of_any_name_stay_apart(tmp_path):
    """Each rule is another, so that a mixup would show."""
    made = study(
        rules={name: KNeighborsClassifier(k + 1) for k, name in enumerate(NAMES)},
        estimators=["resub"],
        sample_sizes=[len(NAMES) + 3],
        repetitions=1,
    )
    first = numbers(made.run(tmp_path / "runs" / "run"))
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["run"]
    assert numbers(made.run(tmp_path / "runs" / "run")).identical(first)
    assert numbers(made.run()).identical(first)


# A folder of another design


OTHERS = {
    "seed": ({"seed": 2}, "seed was 1, is 2"),
    "level": ({"level": 0.9}, "level was 0.95, is 0.9"),
    "n_test": ({"n_test": 600}, "n_test was 5000, is 600"),
    "reruns": ({"reruns": 1}, "reruns.cv was 0, is 1"),
    "reruns of one estimator": ({"reruns": {"cv": 2}}, "design: reruns.cv was 0, is 2"),
    "a parameter of the population": (
        {"population": bg.datasets.PaperGaussian(n_informative=2, n_noise=2, rho=0.5)},
        "population.rho was 0.2, is 0.5",
    ),
    "another population": (
        {"population": bg.datasets.FiniteData(*POPULATION.sample(60, 0))},
        r"population.type was .*PaperGaussian.*, is .*FiniteData",
    ),
    "a parameter of a rule": ({"rules": {"3NN": KNeighborsClassifier(5)}}, "rules.3NN.n_neighbors was 3, is 5"),
    "another rule of the same name": ({"rules": {"3NN": LDA}}, "rules.3NN.type was .*Neighbors.*, is .*Linear"),
    "a parameter of an estimator": (
        {"estimators": {"cv": bg.CrossValidation(4)}},
        "estimators.cv.folds was 3, is 4",
    ),
    "another estimator of the same name": (
        {"estimators": {"resub": "bolstered"}},
        "estimators.resub.type was .*Empirical.*, is .*Bolstered",
    ),
}
every_other = pytest.mark.parametrize(("given", "difference"), OTHERS.values(), ids=OTHERS)


@every_other
def test_a_folder_of_another_design_is_refused_with_what_differs(folder, given, difference):
    with pytest.raises(ValueError, match=f"{folder} holds a study of another .*{difference}"):
        study(**given).run(folder)


@every_other
def test_nothing_is_changed_in_a_folder_of_another_design(folder, given, difference):
    before = content(folder)
    with pytest.raises(ValueError, match="another design"):
        study(**given, sample_sizes=[12, 16, 20]).run(folder)
    assert content(folder) == before


def test_a_refusal_says_what_to_do(folder):
    with pytest.raises(ValueError, match=r"Name another folder, or use the design it was begun with .*may be added"):
        study(seed=2).run(folder)


def test_a_refusal_names_a_few_of_many_differences(folder):
    other = bg.datasets.PaperGaussian(
        delta=1.0, n_informative=4, n_noise=3, rho=0.1, sigma=2.0, block=1, class_sizes="random"
    )
    with pytest.raises(ValueError, match=r"; and \d more\. Name another folder"):
        study(population=other, seed=2).run(folder)


def test_a_number_of_features_is_told_from_the_same_share_of_them(tmp_path):
    """One feature and all of them: scikit-learn reads 1 and 1.0 so."""
    study(rules={"tree": DecisionTreeClassifier(max_features=1)}).run(tmp_path)
    with pytest.raises(ValueError, match=r"rules.tree.max_features was 1, is 1\.0"):
        study(rules={"tree": DecisionTreeClassifier(max_features=1.0)}).run(tmp_path)


def scaled(factor):
    return make_pipeline(FunctionTransformer(lambda X: X * np.array([1, factor, 1, 1])), KNeighborsClassifier(3))


def test_a_function_with_another_number_inside_is_told_apart(tmp_path):
    study(rules={"scaled": scaled(1.0)}).run(tmp_path)
    with pytest.raises(ValueError, match=r"another design: rules\.scaled"):
        study(rules={"scaled": scaled(100.0)}).run(tmp_path)


def test_another_data_set_of_the_same_shape_is_told_apart(tmp_path):
    study(population=bg.datasets.FiniteData(*POPULATION.sample(60, 0))).run(tmp_path)
    with pytest.raises(ValueError, match="another design: population"):
        study(population=bg.datasets.FiniteData(*POPULATION.sample(60, 1))).run(tmp_path)


def frozen(seed):
    return FrozenEstimator(PCA(2).fit(*POPULATION.sample(30, seed)))


def test_a_rule_with_another_frozen_step_is_told_apart(tmp_path):
    study(rules={"PCA": make_pipeline(frozen(0), LDA)}, estimators=["resub"]).run(tmp_path)
    with pytest.raises(ValueError, match=r"another design: rules\.PCA.*frozenestimator\.estimator\.learned was"):
        study(rules={"PCA": make_pipeline(frozen(1), LDA)}, estimators=["resub"]).run(tmp_path)


def test_a_measure_with_another_extractor_is_told_apart(tmp_path):
    first, other = (
        study(estimators={"on features": bg.on_features(bg.Bolstered(), frozen(seed), held_out=True)}).design()
        for seed in (0, 1)
    )
    RunFolder(tmp_path).begin(first)
    with pytest.raises(ValueError, match=r"estimators\.on features\.extractor\.estimator\.learned was"):
        RunFolder(tmp_path).begin(other)


class Rule(LinearDiscriminantAnalysis):
    """LDA, until someone edits it."""

    def fit(self, X, y):
        return super().fit(X, y)


def test_a_rule_whose_class_was_edited_is_told_apart(tmp_path, monkeypatch):
    study(rules={"mine": Rule()}).run(tmp_path)
    monkeypatch.setattr(Rule, "fit", lambda self, X, y: LinearDiscriminantAnalysis.fit(self, -X, y))
    with pytest.raises(ValueError, match=r"another design: rules\.mine\.code was"):
        study(rules={"mine": Rule()}).run(tmp_path)


def test_a_folder_of_the_first_format_with_a_class_of_the_user_is_refused_with_the_reason(tmp_path):
    study(rules={"mine": Rule()}).run(tmp_path)
    made_earlier(tmp_path)
    path = tmp_path / "design.json"
    stored = json.loads(path.read_text())
    del stored["design"]["rules"]["mine"]["code"]
    path.write_text(json.dumps(stored))
    with pytest.raises(
        ValueError, match=r"rules\.mine\.code is new\. .*earlier version, .*neither fitted state nor code"
    ):
        study(rules={"mine": Rule()}).run(tmp_path)


def test_a_folder_made_with_another_version_of_a_package_of_a_rule_is_used_with_a_warning(tmp_path, monkeypatch):
    package = types.ModuleType("boosting")
    package.__version__ = "1.0"
    package.__file__ = "/usr/lib/site-packages/boosting/__init__.py"
    monkeypatch.setitem(sys.modules, "boosting", package)
    rule = type("Boosting", (LinearDiscriminantAnalysis,), {"__module__": "boosting"})()
    study(rules={"boosting": rule}).run(tmp_path)
    package.__version__ = "2.0"
    with pytest.warns(UserWarning, match=r"begun with other versions \(boosting 1.0 to 2.0\)"):
        study(rules={"boosting": rule}).run(tmp_path)


def test_a_study_of_a_table_read_again_goes_on_in_its_folder(tmp_path):
    X, y = POPULATION.sample(60, 0)
    rows = [f"{a},{b},{'yes' if label else 'no'}" for (a, b, *_), label in zip(X.tolist(), y, strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,label", *rows]))

    def made():
        return study(population=bg.datasets.FiniteData.from_csv(tmp_path / "data.csv", "label"))

    first = numbers(made().run(tmp_path / "run"))
    assert numbers(made().run(tmp_path / "run")).identical(first)


def test_a_folder_made_with_other_versions_is_used_with_a_warning(folder):
    path = folder / "design.json"
    design = json.loads(path.read_text())
    design["versions"]["numpy"] = "1.0"
    # The checksum is that of the file as it was.
    del design["sha256"]
    path.write_text(json.dumps(design))
    with pytest.warns(UserWarning, match=r"begun with other versions \(numpy 1.0 to .*\): new numbers may") as caught:
        found = numbers(study().run(folder))
    assert caught[0].filename == __file__
    assert found.identical(whole())


# What is no run folder


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(FileExistsError, match=r"notes must be a folder; it is a file\. Name another"):
        study().run(tmp_path / "notes")
    assert (tmp_path / "notes").read_text() == "mine"


def test_a_folder_below_a_file_is_refused(tmp_path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(NotADirectoryError, match=r"Not a directory.*notes"):
        study().run(tmp_path / "notes" / "run")


def test_a_folder_that_holds_other_things_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    before = content(tmp_path)
    with pytest.raises(
        FileExistsError, match=r"must be empty or hold a study; it holds \['thesis.tex'\]. Name another"
    ):
        study().run(tmp_path)
    assert content(tmp_path) == before


def test_an_empty_folder_is_used(tmp_path):
    assert numbers(study().run(tmp_path)).identical(whole())


def test_other_things_beside_a_study_do_no_harm(folder):
    (folder / "notes.txt").write_text("mine")
    (folder / "tasks" / "notes.txt").write_text("mine")
    assert numbers(study().run(folder)).identical(whole())
    assert (folder / "notes.txt").read_text() == "mine"


DAMAGES = {
    "empty": b"",
    "zeros": b"\0" * 200,
    "not JSON": b'{"format": 1,',
    "not text": b"\xff\xfe\x00\x81",
    "a list": b"[]",
    "a number": b"1",
    "without a design": b'{"format": 1}',
    "with an empty design": b'{"format": 1, "design": {}, "versions": {}}',
    "with no design": b'{"format": 1, "design": null, "versions": {}}',
    "with rules that are none": b'{"format": 1, "design": {"rules": 1, "estimators": 2}, "versions": {}}',
}


def spoil_design(folder, damage):
    path = folder / "design.json"
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage(path.read_bytes()))


BROKEN = {
    "gone": None,
    "truncated": lambda raw: raw[:-20],
    "with another seed": lambda raw: raw.replace(b'"seed": 1', b'"seed": 3'),
    "with another format": lambda raw: raw.replace(b'"format": 2', b'"format": 3'),
    **{name: (lambda raw, damage=damage: damage) for name, damage in DAMAGES.items()},
}
every_damage = pytest.mark.parametrize("damage", BROKEN.values(), ids=BROKEN)
ignoring_the_repair = pytest.mark.filterwarnings("ignore:.*the design is rebuilt from")


@every_damage
def test_a_design_that_is_damaged_or_gone_is_rebuilt_with_a_warning(folder, damage):
    before = json.loads((folder / "design.json").read_text())
    spoil_design(folder, damage)
    with pytest.warns(
        UserWarning, match=r"design.json was damaged or gone; the design is rebuilt from 8 parts"
    ) as warned:
        study().run(folder)
    assert warned[0].filename == __file__
    assert json.loads((folder / "design.json").read_text())["design"] == before["design"]


@every_damage
@ignoring_the_repair
def test_no_task_is_done_again_if_the_design_was_damaged(folder, damage):
    before = {path: path.stat().st_mtime_ns for path in part_files(folder)}
    spoil_design(folder, damage)
    assert numbers(study().run(folder)).identical(whole())
    assert {path: path.stat().st_mtime_ns for path in part_files(folder)} == before


@ignoring_the_repair
def test_a_rebuilt_design_knows_what_this_run_does_not_ask_for(folder):
    spoil_design(folder, None)
    study(rules={"LDA": LDA}, estimators=["resub"], sample_sizes=[12], repetitions=1).run(folder)
    assert numbers(bg.StudyResults.load(folder)).identical(whole().sel(rule=["3NN", "LDA"]))


def test_results_can_be_loaded_if_the_design_is_damaged_and_nothing_is_written(folder):
    spoil_design(folder, lambda raw: raw[:-20])
    before = content(folder)
    with pytest.warns(UserWarning, match="the design is rebuilt from 8 parts") as warned:
        found = numbers(bg.StudyResults.load(folder))
    assert [warning.filename for warning in warned] == [__file__]
    assert found.identical(whole().sel(rule=["3NN", "LDA"]))
    assert content(folder) == before


@every_other
@ignoring_the_repair
def test_a_folder_of_another_design_is_refused_though_its_design_is_damaged(folder, given, difference):
    spoil_design(folder, lambda raw: raw[:-20])
    before = content(folder)
    with pytest.raises(ValueError, match=f"{folder} holds a study of another .*{difference}"):
        study(**given).run(folder)
    assert content(folder) == before


def test_parts_of_several_designs_without_a_whole_design_are_refused(folder, tmp_path):
    study(seed=2).run(tmp_path / "other")
    shutil.copy(part_of(tmp_path / "other"), part_of(folder))
    spoil_design(folder, None)
    with pytest.raises(
        ValueError, match=r"must be whole where the parts are of several designs.*seed was.*Move the parts"
    ):
        study().run(folder)


def without_design(path):
    """Make a part as the first format has it: without the design that it was made for."""
    record = json.loads(path.read_text())["content"]
    del record["made_for"]
    sha256 = hashlib.sha256(json.dumps(record).encode()).hexdigest()[:16]
    path.write_text(json.dumps({"content": record, "sha256": sha256}))


def made_earlier(folder):
    """Make a folder as the first format has it."""
    for path in part_files(folder):
        without_design(path)
    path = folder / "design.json"
    stored = json.loads(path.read_text())
    del stored["sha256"]
    path.write_text(json.dumps({**stored, "format": 1}, indent=1))


def test_a_folder_of_the_first_format_is_used(folder):
    made_earlier(folder)
    before = content(folder)
    assert numbers(study().run(folder)).identical(whole())
    assert content(folder) == before


def test_a_folder_of_the_first_format_can_grow(folder):
    made_earlier(folder)
    study(estimators=["3nn-pp"], repetitions=3).run(folder)
    assert numbers(study().run(folder)).identical(whole())


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_design_that_no_part_holds_is_refused_and_left_alone(folder, damage):
    made_earlier(folder)
    spoil_design(folder, lambda raw: damage)
    before = content(folder)
    with pytest.raises(ValueError, match=r"design.json is damaged .*Run the study in another folder"):
        study().run(folder)
    assert content(folder) == before


def test_tasks_whose_design_is_lost_and_in_no_part_are_refused_and_left_alone(folder):
    made_earlier(folder)
    spoil_design(folder, None)
    before = content(folder)
    with pytest.raises(FileExistsError, match=r"must be empty or hold a study; it holds \['tasks'\]"):
        study().run(folder)
    assert content(folder) == before


def test_a_folder_of_another_format_is_refused_and_left_alone(folder):
    path = folder / "design.json"
    stored = json.loads(path.read_text())
    del stored["sha256"]
    path.write_text(json.dumps({**stored, "format": 99}))
    before = content(folder)
    with pytest.raises(ValueError, match=r"has format 99, this version reads \d+. Run the study in another folder"):
        study().run(folder)
    assert content(folder) == before


# Damaged part files


def edited(raw):
    """Return a file in which an estimate was changed by hand."""
    found = json.loads(raw)
    found["content"]["rows"]["resub"]["estimate"] = 0.123
    return json.dumps(found).encode()


SPOILED = {
    "empty": lambda raw: b"",
    "zeros": lambda raw: b"\0" * len(raw),
    "one byte": lambda raw: raw[:1],
    "half": lambda raw: raw[: len(raw) // 2],
    "all but one byte": lambda raw: raw[:-1],
    "one digit changed": lambda raw: raw.replace(b"0.", b"1.", 1),
    "an estimate changed": edited,
    "not text": lambda raw: b"\xff\xfe\x00\x81" + raw,
    "twice": lambda raw: raw + raw,
    "a list": lambda raw: b"[]",
    "nothing": lambda raw: b"null",
    "without its sum": lambda raw: json.dumps({"content": json.loads(raw)["content"]}).encode(),
    "not a number in it": lambda raw: raw.replace(b"null", b"NaN", 1),
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_a_spoiled_file_is_computed_again_with_a_warning(folder, spoil):
    path = part_of(folder)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.warns(UserWarning, match=f"1 damaged .* in {folder} .*computed again") as caught:
        found = numbers(study().run(folder))
    assert found.identical(whole())
    assert caught[0].filename == __file__


def test_a_spoiled_file_is_whole_again_after_a_run(folder):
    path = part_of(folder)
    path.write_bytes(b"")
    with pytest.warns(UserWarning, match="computed again"):
        study().run(folder)
    assert numbers(study().run(folder)).identical(whole())


def test_only_the_spoiled_files_are_written_again(folder):
    before = content(folder)
    path = part_of(folder)
    path.write_bytes(b"")
    with pytest.warns(UserWarning, match="computed again"):
        study().run(folder)
    after = content(folder)
    assert [name for name in after if after[name] != before[name]] == [path]


@pytest.mark.parametrize(
    "other",
    [{"repetition": 1}, {"n": 16}, {"rule": "3NN"}],
    ids=["another repetition", "another size", "another rule"],
)
def test_a_file_copied_over_that_of_another_task_is_computed_again(folder, other):
    shutil.copy(part_of(folder, **other), part_of(folder))
    with pytest.warns(UserWarning, match="1 damaged"):
        found = numbers(study().run(folder))
    assert found.identical(whole())


def test_two_files_that_changed_places_are_computed_again(folder):
    one, other = part_of(folder, repetition=0), part_of(folder, repetition=1)
    kept = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(kept)
    with pytest.warns(UserWarning, match="2 damaged"):
        found = numbers(study().run(folder))
    assert found.identical(whole())


@pytest.mark.filterwarnings("ignore:1 damaged")
def test_a_file_of_the_same_task_of_another_study_is_computed_again(folder, tmp_path):
    """The other study has another seed, so that all its numbers are others."""
    study(seed=2).run(tmp_path / "other")
    shutil.copy(part_of(tmp_path / "other"), part_of(folder))
    assert numbers(study().run(folder)).identical(whole())


def test_every_file_spoiled_is_a_study_begun_anew(folder):
    for path in part_files(folder):
        path.write_bytes(path.read_bytes()[:100])
    with pytest.warns(UserWarning, match="8 damaged"):
        found = numbers(study().run(folder))
    assert found.identical(whole())


def test_a_spoiled_file_is_computed_again_in_another_process(folder):
    part_of(folder).write_bytes(b"")
    with pytest.warns(UserWarning, match="1 damaged"):
        found = numbers(study().run(folder, n_jobs=2))
    assert found.identical(whole())


def test_files_that_are_gone_are_computed_again_without_a_warning(folder):
    part_of(folder).unlink()
    shutil.rmtree(part_of(folder, "3NN", 16).parent)
    assert numbers(study().run(folder)).identical(whole())


def test_half_written_files_of_a_killed_run_do_no_harm(folder):
    path = part_of(folder)
    path.with_name(f".{path.name}.4242").write_bytes(path.read_bytes()[:100])
    (folder / ".design.json.4242").write_text("{")
    path.unlink()
    assert numbers(study().run(folder)).identical(whole())


def test_a_folder_whose_design_was_half_written_when_the_run_was_killed_is_used(tmp_path):
    (tmp_path / ".design.json.4242").write_text("{")
    assert numbers(study().run(tmp_path)).identical(whole())


# Flipped bits


def flip(path, bit):
    raw = bytearray(path.read_bytes())
    raw[bit // 8] ^= 1 << (bit % 8)
    path.write_bytes(raw)


@pytest.mark.filterwarnings("ignore:.*the design is rebuilt from")
@pytest.mark.parametrize("n_flips", [200, pytest.param(3840, marks=pytest.mark.long)])
def test_a_flipped_bit_is_found_wherever_it_is(folder, n_flips):
    """A record is as it was or counts as damaged, and the design is as it was."""
    design = RunFolder(folder).design()["design"]
    files = [folder / "design.json", *part_files(folder)[:3]]
    whole_records, _ = RunFolder(folder).read(study().tasks)
    rng = np.random.default_rng(0)
    for k in range(n_flips):
        path = files[k % len(files)]
        bit = int(rng.integers(8 * path.stat().st_size))
        flip(path, bit)
        store = RunFolder(folder)
        assert store.design()["design"] == design, (path, bit)
        records, damaged = store.read(study().tasks)
        assert len(records) + damaged == 8, (path, bit)
        assert all(records[task] == whole_records[task] for task in records), (path, bit)
        flip(path, bit)


# A full disk, and a folder that cannot be written


@pytest.fixture
def filling(monkeypatch):
    """Return a function that fills the disk after some files: of the next one half is written."""

    def fill(after, code=errno.ENOSPC):
        written, write = [], Path.write_text

        def full(self, text, *args, **kwargs):
            written.append(self)
            if len(written) > after:
                write(self, text[: len(text) // 2])
                raise OSError(code, os.strerror(code), str(self))
            return write(self, text, *args, **kwargs)

        monkeypatch.setattr(Path, "write_text", full)

    yield fill
    monkeypatch.undo()


def test_a_full_disk_is_an_error_that_says_what_to_do(tmp_path, filling):
    filling(after=4)
    with pytest.raises(OSError, match=r"No space left.*written already are whole: free space .* run again") as full:
        study().run(tmp_path / "run")
    assert full.value.errno == errno.ENOSPC
    assert full.value.filename == str(tmp_path / "run")


def test_a_full_disk_keeps_what_is_written(tmp_path, filling):
    """Before the parts comes the design."""
    filling(after=5)
    with pytest.raises(OSError, match="No space left"):
        study().run(tmp_path)
    assert len(part_files(tmp_path)) == 4
    records, damaged = RunFolder(tmp_path).read(study().tasks)
    assert (len(records), damaged) == (4, 0)


@pytest.mark.parametrize("after", [0, 4])
def test_a_full_disk_leaves_no_temporary_file(tmp_path, filling, after):
    filling(after)
    with pytest.raises(OSError, match="No space left"):
        study().run(tmp_path)
    assert hidden(tmp_path) == []


@pytest.mark.parametrize("after", [0, 1, 4])
def test_a_run_goes_on_when_the_disk_has_space_again(tmp_path, filling, monkeypatch, after):
    filling(after)
    with pytest.raises(OSError, match="No space left"):
        study().run(tmp_path)
    monkeypatch.undo()
    before = content(tmp_path)
    assert numbers(study().run(tmp_path)).identical(whole())
    assert before.items() <= content(tmp_path).items()


def test_a_full_disk_stops_two_processes_with_nothing_but_the_error(tmp_path, filling, monkeypatch, recwarn):
    """What the other processes are at is of no interest then; a complaint about it would hide the error."""
    filling(after=3)
    with pytest.raises(OSError, match="No space left"):
        study().run(tmp_path, n_jobs=2)
    assert [str(one.message) for one in recwarn] == []
    monkeypatch.undo()
    assert numbers(study().run(tmp_path, n_jobs=2)).identical(whole())


def test_a_full_disk_while_estimators_are_added_keeps_the_earlier_ones(folder, filling, monkeypatch):
    more = {"3nn-pp": "3nn-pp", "resub": "resub"}
    filling(after=3)
    with pytest.raises(OSError, match="No space left"):
        study(estimators=more).run(folder)
    monkeypatch.undo()
    assert numbers(study().run(folder)).identical(whole())


def test_a_full_disk_while_the_design_grows_keeps_the_earlier_one(folder, filling, monkeypatch):
    filling(after=0)
    before = content(folder)
    with pytest.raises(OSError, match="No space left"):
        study(sample_sizes=[12, 16, 20]).run(folder)
    monkeypatch.undo()
    assert content(folder) == before


def test_a_folder_that_may_not_be_written_is_an_error_that_says_what_to_do(tmp_path, filling):
    filling(0, errno.EACCES)
    with pytest.raises(PermissionError, match=r"Permission denied.* or allow writing, and run again"):
        study().run(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError, match=r"cannot write to the run folder .* allow writing, and run again"):
            study().run(tmp_path)
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_finished_study_can_be_read_where_nothing_may_be_written(folder):
    places = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for place in places:
        place.chmod(0o500)
    try:
        assert numbers(study().run(folder)).identical(whole())
    finally:
        for place in places:
            place.chmod(0o700)


def test_a_finished_study_can_be_read_from_a_full_disk(folder, filling):
    filling(after=0)
    assert numbers(study().run(folder)).identical(whole())


# What may be added


@pytest.mark.parametrize(
    "given",
    [
        {"rules": {"tree": DecisionTreeClassifier(random_state=0)}},
        {"estimators": {"3nn-pp": "3nn-pp"}},
        {"sample_sizes": [20]},
        {"repetitions": 3},
    ],
    ids=["rules", "estimators", "sizes", "repetitions"],
)
def test_what_other_runs_add_is_kept_beside_what_is_there(folder, given):
    found = numbers(study(**given).run(folder))
    assert found.identical(numbers(study(**given).run()))
    assert numbers(study().run(folder)).identical(whole())


def test_an_estimator_that_was_added_must_stay_as_it_was(folder):
    study(estimators={"other": bg.CrossValidation(3)}).run(folder)
    with pytest.raises(ValueError, match=r"estimators\.other\.folds was 3, is 4"):
        study(estimators={"other": bg.CrossValidation(4)}).run(folder)


# Several runs at once


def begun_twice(folder, monkeypatch, **given):
    """Run a study whose other run, of another design, begins and ends while this one has read the folder."""
    begin = RunFolder.begin

    def begin_and_let_the_other_run(self, design):
        begin(self, design)
        monkeypatch.setattr(RunFolder, "begin", begin)
        study(**given).run(folder)

    monkeypatch.setattr(RunFolder, "begin", begin_and_let_the_other_run)


MORE = {"3nn-pp": "3nn-pp", "resub": "resub"}


def test_two_runs_that_add_different_estimators_at_once_lose_nothing(tmp_path, monkeypatch):
    begun_twice(tmp_path, monkeypatch, estimators=MORE)
    assert numbers(study().run(tmp_path)).identical(whole())
    before = content(tmp_path)
    assert numbers(study().run(tmp_path)).identical(whole())
    assert numbers(study(estimators=MORE).run(tmp_path)).identical(numbers(study(estimators=MORE).run()))
    assert content(tmp_path) == before


def test_two_runs_that_add_different_estimators_to_a_folder_at_once_lose_nothing(folder, monkeypatch):
    begun_twice(folder, monkeypatch, estimators={"semi-bolstered": "semi-bolstered"})
    study(estimators=MORE).run(folder)
    loaded = bg.StudyResults.load(folder)
    assert set(loaded.grid.estimators) == {"resub", "bolstered", "cv", "3nn-pp", "semi-bolstered"}
    assert loaded.to_xarray()["estimate"].notnull().all()


@ignoring_the_repair
def test_a_design_rebuilt_after_two_runs_at_once_has_the_estimators_of_both(folder, monkeypatch):
    begun_twice(folder, monkeypatch, estimators={"semi-bolstered": "semi-bolstered"})
    study(estimators=MORE).run(folder)
    spoil_design(folder, None)
    estimators = bg.StudyResults.load(folder).grid.estimators
    assert set(estimators) == {"resub", "bolstered", "cv", "3nn-pp", "semi-bolstered"}


def test_two_runs_that_grow_the_design_at_once_both_grow_it(folder, monkeypatch):
    """The other run writes its design after this one has read it."""
    locked = RunFolder._locked

    def wait_for_the_other(self):
        monkeypatch.setattr(RunFolder, "_locked", locked)
        study(sample_sizes=[20]).run(folder)
        return locked(self)

    monkeypatch.setattr(RunFolder, "_locked", wait_for_the_other)
    study(sample_sizes=[24]).run(folder)
    assert RunFolder(folder).design()["design"]["sample_sizes"] == [12, 16, 20, 24]


def test_a_run_that_is_second_to_begin_an_empty_folder_with_another_design_is_refused(tmp_path, monkeypatch):
    locked = RunFolder._locked

    def wait_for_the_other(self):
        monkeypatch.setattr(RunFolder, "_locked", locked)
        study(seed=2, repetitions=1).run(tmp_path)
        return locked(self)

    monkeypatch.setattr(RunFolder, "_locked", wait_for_the_other)
    with pytest.raises(ValueError, match="another design: seed was 2, is 1"):
        study().run(tmp_path)


WRITER = """
import runpy, sys
from pathlib import Path
# The module alone: importing the package takes seconds.
exclusive = runpy.run_path(sys.argv[3])["exclusive"]
lock, log = Path(sys.argv[1]), Path(sys.argv[2])
for _ in range(200):
    with exclusive(lock):
        log.write_text(str(int(log.read_text()) + 1))
"""


def test_a_lock_lets_one_process_in_at_a_time(tmp_path):
    log = tmp_path / "log"
    log.write_text("0")
    command = [sys.executable, "-c", WRITER, str(tmp_path / ".lock"), str(log), locks.__file__]
    processes = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert log.read_text() == "600"


def test_a_file_system_without_locks_is_a_warning(tmp_path, monkeypatch):
    def refuse(descriptor):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(locks, "_lock", refuse)
    with (
        pytest.warns(UserWarning, match=r"must have locks, .*; it has none\. Let one run end before another begins"),
        locks.exclusive(tmp_path / ".lock"),
    ):
        pass
