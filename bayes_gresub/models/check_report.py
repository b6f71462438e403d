"""What a check says: sentences that a user can act on, and the same as data."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes
    ----------
    topic : str
    is_problem : bool
    sentence : str
    numbers : mapping
        What the sentence is about, as plain numbers.
    """

    topic: str
    is_problem: bool
    sentence: str
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class CheckReport:
    """All findings of a check; `bool(verdict)` says whether none of them is a problem.

    A check can find signs that a model is wrong, and cannot show that it is right.

    Examples
    --------
    >>> print(CheckReport((Finding("sampling", False, "The chains agree."),)))
    Nothing found that speaks against the model
      ok       sampling  The chains agree.
    """

    findings: tuple[Finding, ...]

    @property
    def problems(self) -> tuple[Finding, ...]:
        """Return the findings that are problems."""
        return tuple(finding for finding in self.findings if finding.is_problem)

    @property
    def numbers(self) -> dict[str, Any]:
        """Return all numbers, by topic and name."""
        return {f"{one.topic}/{name}": value for one in self.findings for name, value in one.numbers.items()}

    def __bool__(self) -> bool:
        return not self.problems

    def __getitem__(self, topic: str) -> Finding:
        for finding in self.findings:
            if finding.topic == topic:
                return finding
        raise KeyError(f"nothing about {topic!r}; the topics are {', '.join(one.topic for one in self.findings)}.")

    def to_frame(self) -> pd.DataFrame:
        """Return one row per finding: topic, problem, sentence."""
        import pandas as pd

        rows = [{"topic": one.topic, "problem": one.is_problem, "sentence": one.sentence} for one in self.findings]
        return pd.DataFrame(rows).set_index("topic")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain objects."""
        return {
            one.topic: {"problem": one.is_problem, "sentence": one.sentence, "numbers": dict(one.numbers)}
            for one in self.findings
        }

    def __repr__(self) -> str:
        width = max((len(one.topic) for one in self.findings), default=0)
        lines = [self._headline]
        for one in self.findings:
            start = f"  {'PROBLEM' if one.is_problem else 'ok':<7}  {one.topic:<{width}}  "
            lines.append(textwrap.fill(one.sentence, 118, initial_indent=start, subsequent_indent=" " * len(start)))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{'<b>problem</b>' if one.is_problem else 'ok'}</td><td>{html.escape(one.topic)}</td>"
            f"<td style='text-align:left'>{html.escape(one.sentence)}</td></tr>"
            for one in self.findings
        )
        return f"<p><b>{html.escape(self._headline)}</b></p><table>{rows}</table>"

    @property
    def _headline(self) -> str:
        count = len(self.problems)
        if not count:
            return "Nothing found that speaks against the model"
        return f"{count} problem{'s' if count > 1 else ''} found: {', '.join(one.topic for one in self.problems)}"
