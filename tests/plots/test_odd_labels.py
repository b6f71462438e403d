"""Labels with dollar signs, markup and control characters appear as they are in figures, text and HTML."""

from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import NearestCentroid

import bayes_gresub as bg
from bayes_gresub.plots import plot_deviations, plot_estimate, plot_estimates, plot_regions, plot_study

LABELS = ["$x_1$", r"$\frac{1}{", "costs $5", "$5 to $10", "<b>bold</b>", "a & b", "50% _x_ ^2", r"\alpha", "{", "#1"]
ESCAPED = {"two\nlines": r"two\nlines", "\x1b[31mred": r"\x1b[31mred", "tab\there": r"tab\there"}
SHOWN = {**{label: label for label in LABELS}, **ESCAPED}


def sample(label):
    rng = np.random.default_rng(0)
    y = np.array([label, "other"])[np.arange(20) % 2]
    return rng.normal(size=(20, 2)) + (y == label)[:, None], y


def estimate(label):
    X, y = sample(label)
    return bg.Bolstered().fit(X, y).error(NearestCentroid().fit(X, y))


def drawn(figure):
    """Draw a figure, and return its texts; those that could be formulas are left out."""
    figure.canvas.draw()
    texts = figure.findobj(plt.Text)
    return [text.get_text() for text in texts if not text.get_parse_math() and not text.get_usetex()]


@pytest.mark.parametrize("label", SHOWN)
def test_labels_of_rows_are_drawn_as_they_are(label):
    assert SHOWN[label] in drawn(plot_estimate(estimate(label)).figure)


@pytest.mark.parametrize("label", SHOWN)
def test_labels_in_legends_and_names_of_axes_are_drawn_as_they_are(label):
    X, y = sample(label)
    frame = pd.DataFrame(X, columns=[label, f"{label} 2"])
    texts = drawn(plot_regions(NearestCentroid().fit(frame, y), frame, y, resolution=10).figure)
    assert {f"class {SHOWN[label]}", SHOWN[label], f"{SHOWN[label]} 2"} <= set(texts)


def test_labels_inside_regions_are_drawn_as_they_are():
    labels = [f"$x_{number}" for number in range(8)]
    y = np.repeat(labels, 4)
    X = np.random.default_rng(0).normal(size=(32, 2)) + 5 * np.arange(32)[:, None] // 4
    texts = drawn(plot_regions(NearestCentroid().fit(X, y), X, y, resolution=40).figure)
    assert texts.count("$x_0") == 1


@pytest.mark.parametrize("label", SHOWN)
def test_names_of_estimates_are_drawn_as_they_are(label):
    assert SHOWN[label] in drawn(plot_estimates({label: estimate("yes")}).figure)


@pytest.mark.parametrize("label", SHOWN)
def test_names_of_rules_and_estimators_in_studies_are_drawn_as_they_are(label):
    sizes, values = np.array([20, 40]), np.array([0.1, 0.05])
    line = (sizes, values, values - 0.01, values + 0.01)
    texts = drawn(plot_study({label: {f"{label} too": line}}, "rms"))
    assert {SHOWN[label], f"{SHOWN[label]} too"} <= set(texts)


def test_names_of_deviations_are_drawn_as_they_are():
    assert "$x$" in drawn(plot_deviations({"$x$": np.array([-0.1, 0.0, 0.1])}).figure)


class Cells(HTMLParser):
    """Collect the texts that a browser shows, and the tags."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.tags, self.classes = [], set(), ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.classes += f" {dict(attrs).get('class', '')}"

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("label", SHOWN)
def test_labels_in_html_are_shown_as_they_are(label):
    page = Cells(estimate(label)._repr_html_())
    assert any(f"{SHOWN[label]}: 0." in text for text in page.texts)
    assert page.tags <= {"table", "caption", "tr", "th", "td"}


def test_notebooks_typeset_no_formula_in_html():
    assert {"tex2jax_ignore", "mathjax_ignore"} <= set(Cells(estimate("$x$")._repr_html_()).classes.split())


@pytest.mark.parametrize("label", SHOWN)
def test_labels_in_text_are_shown_as_they_are(label):
    assert f"{SHOWN[label]}: 0." in repr(estimate(label))


@pytest.mark.parametrize("label", ESCAPED)
def test_no_control_character_of_a_label_is_printed(label):
    assert all(character.isprintable() for line in repr(estimate(label)).split("\n") for character in line)
