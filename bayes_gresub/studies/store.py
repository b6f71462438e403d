"""The run folder: one small file a task, written whole or not at all, and the design that they belong to."""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bayes_gresub.studies.fingerprint import Plain, differences, digest
from bayes_gresub.studies.tasks import Record, Task

FORMAT = 1
_GROWING = ("rules", "estimators", "reruns")
"""Parts of a design, by name, to which a later run may add."""
_LISTED = ("sample_sizes", "repetitions")
"""Parts that may change from run to run, since they only say which tasks are wanted."""
_VERSIONS = ("bayes_gresub", "numpy", "scipy", "scikit-learn")


class RunFolder:
    """A folder with the records of a study.

    `design.json` says what the numbers depend on; `tasks/<rule>/<n>/<repetition>.json` hold one record each, with a
    checksum. A record whose file is damaged counts as missing.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def begin(self, design: Plain) -> None:
        """Make the folder or check that it is of the same design; raise where it is another's or cannot be written."""
        with self._explained():
            self.path.mkdir(parents=True, exist_ok=True)
            if not self._design_path.exists():
                if strange := [one.name for one in self.path.iterdir() if not one.name.startswith(".")]:
                    raise FileExistsError(
                        f"the folder {self.path} must be empty or hold a study; it holds {sorted(strange)[:3]}. Name "
                        "another."
                    )
                self._write(self._design_path, _new_design(design))
                return
        before = self.design()
        other = [part for part in design if part not in (*_GROWING, *_LISTED)]
        found = [line for part in other for line in differences(before["design"].get(part), design[part], part)]
        for part in _GROWING:
            known = before["design"][part]
            for name in known.keys() & design[part].keys():
                found += differences(known[name], design[part][name], f"{part}.{name}")
        if found:
            raise ValueError(
                f"the folder {self.path} holds a study of another design: {'; '.join(found[:5])}"
                f"{f'; and {len(found) - 5} more' if len(found) > 5 else ''}. Name another folder, or use the design "
                "it was begun with (rules, estimators, sizes and repetitions may be added)."
            )
        now = _versions()
        moved = [
            f"{name} {before['versions'].get(name)} to {now[name]}"
            for name in now
            if before["versions"].get(name) != now[name]
        ]
        if moved:
            warnings.warn(
                f"the folder {self.path} was begun with other versions ({', '.join(moved)}): new numbers may differ "
                "from old ones in the last digits, or by what was changed.",
                stacklevel=3,
            )
        union = _union(before["design"], design)
        if union != before["design"]:
            with self._explained():
                self._write(self._design_path, {**before, "design": union})

    def design(self) -> dict[str, Any]:
        """Return what design.json holds."""
        try:
            found = json.loads(self._design_path.read_text())
            _ = found["format"], found["design"], found["versions"]
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"{self.path} must be a folder that a study was run in; it has no design.json."
            ) from error
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{self._design_path} is damaged ({error}), so that what made the numbers is not known. Run the study "
                "in another folder."
            ) from error
        if found["format"] != FORMAT:
            raise ValueError(
                f"{self.path} has format {found['format']}, this version reads {FORMAT}. Run the study in another "
                "folder, or read it with the version that made it."
            )
        return dict(found)

    def read(self, tasks: Iterable[Task]) -> tuple[dict[Task, Record], int]:
        """Return the records of those of the tasks that are done, and how many files were damaged."""
        records, damaged = {}, 0
        for task in tasks:
            try:
                content = self._task_path(task).read_bytes()
            except FileNotFoundError:
                continue
            record = _read_record(content, task)
            if record is None:
                damaged += 1
            else:
                records[task] = record
        return records, damaged

    def write(self, record: Record) -> None:
        """Write a record, whole or not at all."""
        with self._explained():
            self._write(self._task_path(Task(record["rule"], record["n"], record["repetition"])), record)

    @property
    def _design_path(self) -> Path:
        return self.path / "design.json"

    def _task_path(self, task: Task) -> Path:
        readable = re.sub(r"[^A-Za-z0-9._-]+", "-", task.rule)[:40]
        # Names that differ only in what a file name cannot hold, or in case, stay apart.
        folder = f"{readable}-{digest(task.rule)[:8]}"
        return self.path / "tasks" / folder / str(task.n) / f"{task.repetition}.json"

    def _write(self, path: Path, content: dict[str, Any]) -> None:
        text = json.dumps(content, allow_nan=False)
        sealed = json.dumps({"content": content, "sha256": _sum(text)}) if "rows" in content else _indented(content)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            part.write_text(sealed)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say what was being done where the system refuses it."""
        try:
            yield
        except FileExistsError as error:
            if error.errno is None:
                raise
            raise type(error)(f"{self.path} must be a folder; it is a file. Name another.") from error
        except OSError as error:
            raise OSError(
                error.errno,
                f"cannot write to the run folder ({error.strerror}). What is written already is whole: free space or "
                "allow writing, and run again to go on",
                str(self.path),
            ) from error


def _read_record(content: bytes, task: Task) -> Record | None:
    """Return the record in a file, or None where it is not whole or not that of the task."""
    try:
        found = json.loads(content)
        record: Record = found["content"]
        whole = _sum(json.dumps(record, allow_nan=False)) == found["sha256"]
        same = (record["rule"], record["n"], record["repetition"]) == (task.rule, task.n, task.repetition)
    except (ValueError, KeyError, TypeError):
        return None
    return record if whole and same else None


def _union(before: Plain, now: Plain) -> Plain:
    """Return the design that holds what both ask for."""
    grown = {part: {**before[part], **now[part]} for part in _GROWING}
    sizes = sorted({*before["sample_sizes"], *now["sample_sizes"]})
    return {**before, **grown, "sample_sizes": sizes, "repetitions": max(before["repetitions"], now["repetitions"])}


def _new_design(design: Plain) -> dict[str, Any]:
    return {"format": FORMAT, "versions": _versions(), "design": design}


def _versions() -> dict[str, str]:
    return {name: version(name) for name in _VERSIONS}


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _indented(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1)
