"""`bayes-gresub list`: every estimator, or every classifier, in one line each."""

from __future__ import annotations

from typing import Annotated

import typer

from bayes_gresub.cli import console


def list_names(
    classifiers: Annotated[bool, typer.Option("--classifiers", help="List the classifiers instead.")] = False,
) -> None:
    """Name every estimator, with one line on when to use it."""
    if classifiers:
        from bayes_gresub.cli.named_rules import named_rules

        console.table(
            [("classifier", "left"), ("description", "wrap")], [(rule.name, rule.summary) for rule in named_rules()]
        )
        return
    from bayes_gresub.registry import estimators

    columns = [("estimator", "left"), ("kind", "left"), ("description, when to use it", "wrap")]
    console.table(columns, [(entry.name, entry.kind, entry.summary) for entry in estimators() if entry.main])
    typer.echo("\nFor comparison with the paper only:\n")
    console.table(columns, [(entry.name, entry.kind, entry.summary) for entry in estimators() if not entry.main])
    typer.echo()
    console.note("A measure judges the trained classifier without refits; a resampler trains it again.", "")
    console.note("--estimators main is the first table, all is both. Also: bayes for bayesian, cv10 for cv.", "")
