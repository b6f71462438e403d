"""The report of a check: sentences that a user can act on, and the same as data."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class CheckReport:
    """All findings of a check; `bool(report)` is True if none of them is a problem.

    A check can find signs that a model is wrong, and cannot show that it is right.

    Examples
    --------
    >>> print(CheckReport((Finding("sampling", False, "The chains agree."),)))
    No problems found
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
        return {
            f"{finding.topic}/{name}": value for finding in self.findings for name, value in finding.numbers.items()
        }

    def __bool__(self) -> bool:
        return not self.problems

    def __getitem__(self, topic: str) -> Finding:
        for finding in self.findings:
            if finding.topic == topic:
                return finding
        raise KeyError(f"nothing about {topic!r}; the topics are {_list_topics(self.findings)}.")

    def to_frame(self) -> pd.DataFrame:
        """Return one row per finding: topic, problem, sentence."""
        import pandas as pd

        rows = [
            {"topic": finding.topic, "problem": finding.is_problem, "sentence": finding.sentence}
            for finding in self.findings
        ]
        return pd.DataFrame(rows).set_index("topic")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain objects."""
        return {
            finding.topic: {
                "problem": finding.is_problem,
                "sentence": finding.sentence,
                "numbers": dict(finding.numbers),
            }
            for finding in self.findings
        }

    def __repr__(self) -> str:
        width = max((len(finding.topic) for finding in self.findings), default=0)
        lines = [self._headline]
        for finding in self.findings:
            start = f"  {'PROBLEM' if finding.is_problem else 'ok':<7}  {finding.topic:<{width}}  "
            lines.append(textwrap.fill(finding.sentence, 118, initial_indent=start, subsequent_indent=" " * len(start)))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{'<b>problem</b>' if finding.is_problem else 'ok'}</td><td>{html.escape(finding.topic)}</td>"
            f"<td style='text-align:left'>{html.escape(finding.sentence)}</td></tr>"
            for finding in self.findings
        )
        return f"<p><b>{html.escape(self._headline)}</b></p><table>{rows}</table>"

    @property
    def _headline(self) -> str:
        count = len(self.problems)
        if not count:
            return "No problems found"
        return f"{count} problem{'s' if count > 1 else ''} found: {_list_topics(self.problems)}"


@dataclass(frozen=True)
class Finding:
    """The result of looking at one topic.

    Attributes
    ----------
    topic : str
    is_problem : bool
    sentence : str
    numbers : mapping
        The numbers of the sentence, and those it rests on.
    """

    topic: str
    is_problem: bool
    sentence: str
    numbers: Mapping[str, Any] = field(default_factory=dict)


def _list_topics(findings: tuple[Finding, ...]) -> str:
    return ", ".join(finding.topic for finding in findings)
