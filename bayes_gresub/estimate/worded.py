"""Values with a sentence: code compares the value, people read the sentence. Reasons and estimands are such values."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self


@dataclass(frozen=True)
class Worded:
    """A value whose sentence is `words`, in which `{self.field}` stands for one of its fields.

    Examples
    --------
    >>> from bayes_gresub.estimate.reasons import Unfinished
    >>> str(Unfinished(30, 200)), Unfinished(30, 200) == Unfinished(30, 200)
    ('30 of 200 fits are done', True)
    """

    words: ClassVar[str]
    brief: ClassVar[str] = ""

    @property
    def sentence(self) -> str:
        """Return the value in full words, without a full stop."""
        return self.words.format(self=self)

    @property
    def short(self) -> str:
        """Return the value in a few words, for tables and the command line."""
        return self.brief.format(self=self) if self.brief else self.sentence

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Return the value as its name and its fields, with its sentence for people who read the file."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"name": type(self).__name__, **values, "sentence": self.sentence}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the value that `to_dict` described; its sentence is not read."""
        kinds = {kind.__name__: kind for kind in _descendants(cls)}
        return kinds[data["name"]]._from_fields({k: v for k, v in data.items() if k not in ("name", "sentence")})

    @classmethod
    def _from_fields(cls, values: dict[str, Any]) -> Self:
        return cls(**values)


def _descendants(kind: type[Any]) -> list[type[Any]]:
    return [kind, *(descendant for child in kind.__subclasses__() for descendant in _descendants(child))]
