"""The run folder: one small file a task, written whole or not at all, and the design that they belong to."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import uuid
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bayes_gresub.studies.identity import Plain, differences, digest
from bayes_gresub.studies.locks import exclusive
from bayes_gresub.studies.tasks import Record, Task, agree, merged

FORMAT = 2
"""Format 1 has no checksum of the design, and its parts do not hold the design that they were made for."""
_READABLE = (1, 2)
_GROWING = ("rules", "estimators", "reruns")
"""Parts of a design, by name, to which a later run may add."""
_LISTED = ("sample_sizes", "repetitions")
"""Parts that may change from run to run, since they only set which tasks are wanted."""
_VERSIONS = ("bayes_gresub", "numpy", "scipy", "scikit-learn")


class RunFolder:
    """A folder with the records of a study.

    `design.json` holds the design, which the numbers depend on; `tasks/<rule>/<n>/<repetition>.json` hold one record
    each, with a checksum and the design that it was made for, from which `design.json` can be rebuilt. A record whose
    file is damaged counts as missing. Several runs may write at once: each adds to what is there, under a lock.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._design: Plain = None
        self._stamps: dict[str, str] = {}

    def begin(self, design: Plain) -> None:
        """Make the folder or check that it is of the same design; raise if it is another's or cannot be written."""
        with self._explained():
            self.path.mkdir(parents=True, exist_ok=True)
            content, n_parts = self._stored()
            if content is None and (strange := [path.name for path in self.path.iterdir() if path.name[0] != "."]):
                raise FileExistsError(
                    f"the folder {self.path} must be empty or hold a study; it holds {sorted(strange)[:3]}. Name "
                    "another."
                )
        if content is not None:
            self._check(content, design)
            if n_parts:
                warnings.warn(self._rebuilt(n_parts), stacklevel=3)
            if moved := _moved(content["versions"], design):
                warnings.warn(
                    f"the folder {self.path} was begun with other versions ({moved}): new numbers may differ from old "
                    "ones in the last digits, or by the changes between versions.",
                    stacklevel=3,
                )
        if content is None or n_parts or _union(content["design"], design) != content["design"]:
            with self._explained(), self._locked():
                # Another run may have begun or grown the study meanwhile.
                content, _ = self._stored()
                if content is None:
                    content = {"format": FORMAT, "versions": _versions(design), "design": design}
                self._check(content, design)
                content = {**content, "format": FORMAT, "design": _union(content["design"], design)}
                self._write(self._design_path, _sealed_design(content))
        self._know(content["design"])

    def design(self) -> dict[str, Any]:
        """Return the content of design.json; if it is damaged or gone, as the parts have it."""
        content, n_parts = self._stored()
        if content is None:
            raise FileNotFoundError(f"{self.path} must be a folder that a study was run in; it has no design.json.")
        if n_parts:
            warnings.warn(self._rebuilt(n_parts), stacklevel=3)
        self._know(content["design"])
        return content

    def read(self, tasks: Iterable[Task]) -> tuple[dict[Task, Record], int]:
        """Return the records of those of the tasks that are done, and how many files were damaged."""
        if self._design is None:
            self.design()
        records, damaged = {}, 0
        for task in tasks:
            try:
                part = self._read_part(task)
            except FileNotFoundError:
                continue
            if part is None:
                damaged += 1
            else:
                records[task] = part[0]
        return records, damaged

    def write(self, record: Record, *, anew: bool = False) -> Record:
        """Add a record to the one that is there, whole or not at all, and return both together.

        Parameters
        ----------
        anew : bool, default False
            Whether it takes the place of the one that is there.
        """
        assert self._design is not None, "begin comes first"
        task = _task_of(record)
        with self._explained(), self._locked():
            try:
                before = None if anew else self._read_part(task)
            except FileNotFoundError:
                before = None
            known = self._design
            if before is not None and agree(before[0], record):
                record = merged(before[0], record)
                # Another run may have added estimators that this one has never heard of.
                known = _union(before[1], known)
            part = _part_of(known, task, record["rows"])
            made_for = {"versions": _versions(part), "design": part}
            sealed = {**record, "design": self._stamps[task.rule], "made_for": made_for}
            text = json.dumps({"content": sealed, "sha256": _sum(json.dumps(sealed, allow_nan=False))})
            self._write(self._task_path(task), text)
        return record

    @property
    def _design_path(self) -> Path:
        return self.path / "design.json"

    def _task_path(self, task: Task) -> Path:
        readable = re.sub(r"[^A-Za-z0-9._-]+", "-", task.rule)[:40]
        # Names that differ only in what a file name cannot hold, or in case, stay apart.
        folder = f"{readable}-{digest(task.rule)[:8]}"
        return self.path / "tasks" / folder / str(task.n) / f"{task.repetition}.json"

    def _know(self, design: Plain) -> None:
        self._design, self._stamps = design, stamps(design)

    def _stored(self) -> tuple[dict[str, Any] | None, int]:
        """Return the content of design.json, or None, and from how many parts it was rebuilt: 0 if it is whole."""
        try:
            return self._read_design(), 0
        except FileNotFoundError:
            return self._from_parts()
        except _UnreadableFormat:
            raise
        except (ValueError, KeyError, TypeError) as error:
            content, n_parts = self._from_parts()
            if content is None:
                raise ValueError(
                    f"{self._design_path} is damaged ({error}) and no part holds the design, so the design of the "
                    "numbers is unknown. Run the study in another folder."
                ) from error
            return content, n_parts

    def _read_design(self) -> dict[str, Any]:
        """Return the content of design.json; raise a ValueError, KeyError or TypeError if it is damaged."""
        stored = json.loads(self._design_path.read_text())
        content = {name: stored[name] for name in ("format", "versions", "design")}
        if "sha256" in stored and stored["sha256"] != _sum(json.dumps(content, allow_nan=False)):
            raise ValueError("it does not match its checksum")
        if content["format"] not in _READABLE:
            raise _UnreadableFormat(
                f"{self.path} has format {content['format']}, this version reads {FORMAT}. Run the study in another "
                "folder, or read it with the version that made it."
            )
        _check_design(content)
        return content

    def _from_parts(self) -> tuple[dict[str, Any] | None, int]:
        """Return the design as the parts have it, or None if none has it, and how many have it."""
        content: dict[str, Any] | None = None
        n_parts = 0
        for path in sorted(self.path.glob("tasks/*/*/*.json")):
            part = _unsealed(path.read_bytes())
            if part is None or part["made_for"] is None:
                continue
            here = part["made_for"]
            if content is None:
                content = {"format": FORMAT, **here}
            elif conflicts := _conflicts(content["design"], here["design"]):
                raise ValueError(
                    f"{self._design_path} must be whole where the parts are of several designs; it is damaged or gone, "
                    f"and {path} differs from the parts before it: {'; '.join(conflicts[:5])}. Move the parts that are "
                    "not of this study, or name another folder."
                )
            else:
                content = {**content, "design": _union(content["design"], here["design"])}
            n_parts += 1
        return content, n_parts

    def _rebuilt(self, n_parts: int) -> str:
        return f"{self._design_path} was damaged or gone; the design is rebuilt from {n_parts} parts."

    def _check(self, content: dict[str, Any], design: Plain) -> None:
        """Raise if the folder is of another design."""
        conflicts = _conflicts(content["design"], design)
        if not conflicts:
            return
        remarks = ""
        if moved := _moved(content["versions"], design):
            remarks += f" It was begun with other versions: {moved}."
        if content["format"] < FORMAT:
            remarks += (
                " It was begun by an earlier version, which recorded neither fitted state nor code: where these are "
                "new in the design, its numbers may be those of another model."
            )
        raise ValueError(
            f"the folder {self.path} holds a study of another design: {'; '.join(conflicts[:5])}"
            f"{f'; and {len(conflicts) - 5} more' if len(conflicts) > 5 else ''}. Name another folder, or use the "
            f"design it was begun with (rules, estimators, sizes and repetitions may be added).{remarks}"
        )

    def _read_part(self, task: Task) -> tuple[Record, Plain] | None:
        """Return a record and the design that it was made for, or None if it is not whole or not of the design."""
        part = _unsealed(self._task_path(task).read_bytes())
        if part is None or _task_of(part["record"]) != task or part["stamp"] != self._stamps[task.rule]:
            return None
        known = self._design if part["made_for"] is None else part["made_for"]["design"]
        return part["record"], known

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with exclusive(self.path / ".lock"):
            yield

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


class _UnreadableFormat(ValueError):
    """A run folder is of a format that this version does not read; it is whole."""


def _sealed_design(content: dict[str, Any]) -> str:
    """Return the text of design.json."""
    return json.dumps({**content, "sha256": _sum(json.dumps(content, allow_nan=False))}, indent=1)


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


def stamps(design: Plain) -> dict[str, str]:
    """Return for each rule a digest of all that its records depend on, whichever estimators they hold."""
    common = _common(design)
    return {name: digest([common, rule]) for name, rule in design["rules"].items()}


def _common(design: Plain) -> Plain:
    """Return the parts of a design that all its records depend on."""
    return {part: design[part] for part in design if part not in (*_GROWING, *_LISTED)}


def _part_of(design: Plain, task: Task, estimators: Iterable[str]) -> Plain:
    """Return the design of one task and these estimators."""
    growing = {part: {name: design[part][name] for name in estimators} for part in _GROWING if part != "rules"}
    rules = {task.rule: design["rules"][task.rule]}
    return _common(design) | {"rules": rules, **growing, "sample_sizes": [task.n], "repetitions": task.repetition + 1}


def _unsealed(content: bytes) -> dict[str, Any] | None:
    """Return the record in a file, its stamp and what it was made for (None in format 1); or None if it is damaged."""
    try:
        stored = json.loads(content)
        record: Record = stored["content"]
        if _sum(json.dumps(record, allow_nan=False)) != stored["sha256"]:
            return None
        _task_of(record)
        return {"stamp": record.pop("design"), "made_for": record.pop("made_for", None), "record": record}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _task_of(record: Record) -> Task:
    return Task(record["rule"], record["n"], record["repetition"])


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


def _moved(versions: Plain, design: Plain) -> str:
    """Return in words which versions are other than these."""
    now = _versions(design)
    changed = [name for name in now if name in versions and versions[name] != now[name]]
    return ", ".join(f"{name} {versions[name]} to {now[name]}" for name in changed)


def _versions(design: Plain) -> dict[str, str]:
    """Return the versions of all packages that a design has classes and functions of, and of Python."""
    others = {name: getattr(sys.modules.get(name), "__version__", None) for name in sorted(_packages(design))}
    named = {name: str(number) for name, number in others.items() if number is not None and name != "sklearn"}
    return {"python": f"{sys.version_info.major}.{sys.version_info.minor}", **named, **_fixed_versions()}


@cache
def _fixed_versions() -> dict[str, str]:
    """Return the versions that every run folder records; looking for them takes milliseconds, so once."""
    return {name: version(name) for name in _VERSIONS}


def _packages(design: Plain) -> set[str]:
    if isinstance(design, list):
        return set().union(*map(_packages, design))
    if not isinstance(design, dict):
        return set()
    places = [design[key] for key in ("type", "class", "function") if isinstance(design.get(key), str)]
    return {place.partition(".")[0] for place in places}.union(*map(_packages, design.values()))


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
