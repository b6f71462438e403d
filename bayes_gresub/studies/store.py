"""The run folder: one small file a task, written whole or not at all, and the design that they belong to."""

from __future__ import annotations

import hashlib
import json
import os
import re
import uuid
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bayes_gresub.studies.identity import Plain, differences, digest
from bayes_gresub.studies.tasks import Record, Task

FORMAT = 1
_GROWING = ("rules", "estimators", "reruns")
"""Parts of a design, by name, to which a later run may add."""
_LISTED = ("sample_sizes", "repetitions")
"""Parts that may change from run to run, since they only set which tasks are wanted."""
_VERSIONS = ("bayes_gresub", "numpy", "scipy", "scikit-learn")


class RunFolder:
    """A folder with the records of a study.

    `design.json` holds the design, which the numbers depend on; `tasks/<rule>/<n>/<repetition>.json` hold one record
    each, with a checksum. A record whose file is damaged counts as missing.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._stamps: dict[str, str] | None = None

    def begin(self, design: Plain) -> None:
        """Make the folder or check that it is of the same design; raise if it is another's or cannot be written."""
        self._stamps = stamps(design)
        with self._explained():
            self.path.mkdir(parents=True, exist_ok=True)
            if not self._design_path.exists():
                if strange := [entry.name for entry in self.path.iterdir() if not entry.name.startswith(".")]:
                    raise FileExistsError(
                        f"the folder {self.path} must be empty or hold a study; it holds {sorted(strange)[:3]}. Name "
                        "another."
                    )
                if self._is_first(design):
                    return
        before = self.design()
        moved = _moved(before["versions"])
        if conflicts := _conflicts(before["design"], design):
            raise ValueError(
                f"the folder {self.path} holds a study of another design: {'; '.join(conflicts[:5])}"
                f"{f'; and {len(conflicts) - 5} more' if len(conflicts) > 5 else ''}. Name another folder, or use the "
                "design it was begun with (rules, estimators, sizes and repetitions may be added)."
                f"{f' It was begun with other versions: {moved}.' if moved else ''}"
            )
        if moved:
            warnings.warn(
                f"the folder {self.path} was begun with other versions ({moved}): new numbers may differ from old ones "
                "in the last digits, or by the changes between versions.",
                stacklevel=3,
            )
        union = _union(before["design"], design)
        if union != before["design"]:
            with self._explained():
                self._write(self._design_path, json.dumps({**before, "design": union}, indent=1))

    def design(self) -> dict[str, Any]:
        """Return the content of design.json."""
        try:
            content = json.loads(self._design_path.read_text())
            _check_design(content)
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"{self.path} must be a folder that a study was run in; it has no design.json."
            ) from error
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{self._design_path} is damaged ({error}), so the design of the numbers is unknown. Run the study "
                "in another folder."
            ) from error
        if content["format"] != FORMAT:
            raise ValueError(
                f"{self.path} has format {content['format']}, this version reads {FORMAT}. Run the study in another "
                "folder, or read it with the version that made it."
            )
        return dict(content)

    def read(self, tasks: Iterable[Task]) -> tuple[dict[Task, Record], int]:
        """Return the records of those of the tasks that are done, and how many files were damaged."""
        if self._stamps is None:
            self._stamps = stamps(self.design()["design"])
        records, damaged = {}, 0
        for task in tasks:
            try:
                content = self._task_path(task).read_bytes()
            except FileNotFoundError:
                continue
            record = _read_record(content, task, self._stamps[task.rule])
            if record is None:
                damaged += 1
            else:
                records[task] = record
        return records, damaged

    def write(self, record: Record) -> None:
        """Write a record, whole or not at all."""
        assert self._stamps is not None, "begin comes first"
        task = Task(record["rule"], record["n"], record["repetition"])
        stamped = {**record, "design": self._stamps[task.rule]}
        sealed = json.dumps({"content": stamped, "sha256": _sum(json.dumps(stamped, allow_nan=False))})
        with self._explained():
            self._write(self._task_path(task), sealed)

    @property
    def _design_path(self) -> Path:
        return self.path / "design.json"

    def _task_path(self, task: Task) -> Path:
        readable = re.sub(r"[^A-Za-z0-9._-]+", "-", task.rule)[:40]
        # Names that differ only in what a file name cannot hold, or in case, stay apart.
        folder = f"{readable}-{digest(task.rule)[:8]}"
        return self.path / "tasks" / folder / str(task.n) / f"{task.repetition}.json"

    def _is_first(self, design: Plain) -> bool:
        """Write the design, unless another run has done so at the same moment."""
        text = json.dumps({"format": FORMAT, "versions": _versions(), "design": design}, indent=1)
        try:
            file = self._design_path.open("x")
        except FileExistsError:
            return False
        try:
            with file:
                file.write(text)
        except OSError:
            self._design_path.unlink()
            raise
        return True

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        try:
            part.write_text(text)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Name the folder in the error if the system refuses to write."""
        try:
            yield
        except FileExistsError as error:
            if error.errno is None:
                raise
            raise type(error)(f"{self.path} must be a folder; it is a file. Name another.") from error
        except OSError as error:
            raise OSError(
                error.errno,
                f"cannot write to the run folder ({error.strerror}). The files written already are whole: free space "
                "or allow writing, and run again to go on",
                str(self.path),
            ) from error


def _check_design(content: Any) -> None:
    """Raise a TypeError or KeyError unless design.json holds all its parts."""
    dict(content["versions"])
    parts = content["design"]
    for part in (*_GROWING, "population"):
        if not isinstance(parts[part], dict):
            raise TypeError(f"{part} is {type(parts[part]).__name__}")
    [int(n) for n in parts["sample_sizes"]]
    int(parts["repetitions"])
    float(parts["level"])
    _ = content["format"]


def stamps(design: Plain) -> dict[str, str]:
    """Return for each rule a digest of all that its records depend on, whichever estimators they hold."""
    common = {part: design[part] for part in design if part not in (*_GROWING, *_LISTED)}
    return {name: digest([common, rule]) for name, rule in design["rules"].items()}


def _read_record(content: bytes, task: Task, stamp: str) -> Record | None:
    """Return the record in a file, or None if it is not whole, or not that of the task and the design."""
    try:
        stored = json.loads(content)
        record: Record = stored["content"]
        whole = _sum(json.dumps(record, allow_nan=False)) == stored["sha256"]
        same = (record["rule"], record["n"], record["repetition"]) == (task.rule, task.n, task.repetition)
        ours = record.pop("design") == stamp
    except (ValueError, KeyError, TypeError):
        return None
    return record if whole and same and ours else None


def _conflicts(before: Plain, now: Plain) -> list[str]:
    """Return in words the differences between two designs that no run can bridge."""
    fixed = [part for part in now if part not in (*_GROWING, *_LISTED)]
    lines = [line for part in fixed for line in differences(before.get(part), now[part], part)]
    for part in _GROWING:
        for name in (name for name in now[part] if name in before[part]):
            lines += differences(before[part][name], now[part][name], f"{part}.{name}")
    return lines


def _union(before: Plain, now: Plain) -> Plain:
    """Return the design with all tasks of both."""
    grown = {part: {**before[part], **now[part]} for part in _GROWING}
    sizes = sorted({*before["sample_sizes"], *now["sample_sizes"]})
    return {**before, **grown, "sample_sizes": sizes, "repetitions": max(before["repetitions"], now["repetitions"])}


def _moved(versions: Plain) -> str:
    """Return in words which versions are other than these."""
    now = _versions()
    return ", ".join(f"{name} {versions.get(name)} to {now[name]}" for name in now if versions.get(name) != now[name])


def _versions() -> dict[str, str]:
    return {name: version(name) for name in _VERSIONS}


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
