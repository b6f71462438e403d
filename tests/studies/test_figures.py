"""Figures of studies: what is drawn against the tables, names and labels that can be read, and saved files."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from bayes_gresub.paper import synthetic_experiment as paper
from bayes_gresub.plots import plot_deviations, plot_lines, plot_study
from bayes_gresub.studies import StudyResults
from bayes_gresub.studies.axes import Grid
from bayes_gresub.studies.metrics import ALL

KINDS = ["true_error", "deviations", *ALL]
every_kind = pytest.mark.parametrize("what", KINDS)
every_metric = pytest.mark.parametrize("what", sorted(ALL))
RULES = ("linear SVM", "RBF-SVM", "CART", "3NN", "LDA")
ESTIMATORS = ("resub", "bolstered", "cv")
PAPERS = (*paper.published(), *paper.ours())


@pytest.fixture(autouse=True, scope="module")
def _no_windows():
    """Draw without a screen."""
    plt.switch_backend("Agg")


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    if plt.get_fignums():
        plt.close("all")


@cache
def made(n_rules=2, sizes=(20, 60, 100), estimators=ESTIMATORS, repetitions=8, **parts):
    """Return results whose errors and spreads grow from rule to rule and from estimator to estimator.

    `parts` may hold `failed`, an estimator without estimates, `intervals`, whether there are any, and `scale` of the
    deviations.
    """
    grid = Grid(RULES[:n_rules], sizes, estimators, repetitions, 0.9, "made up")
    rng, scale = np.random.default_rng(0), parts.get("scale", 1.0)
    records = {}
    for task in grid.tasks:
        step = 1 + RULES.index(task.rule)
        truth = 0.1 * step + 0.01 * rng.standard_normal()
        rows = {}
        for k, name in enumerate(estimators):
            known = name != parts.get("failed")
            estimate = truth + scale * step**2 * (0.01 * (k - 1) + 0.03 * rng.standard_normal()) if known else None
            ends = known and parts.get("intervals", True)
            rows[name] = {
                "estimate": estimate,
                "low": estimate - 0.05 if ends else None,
                "high": estimate + 0.05 if ends else None,
                "std_error": 0.01 * scale * rng.random() if known else None,
                "seconds": 0.001 * (k + 1) * rng.uniform(0.5, 1.5),
                "n_refits": 0,
                "n_predicted": 0,
                "message": "" if known else "ValueError: no",
                "reruns": [],
            }
        records[task] = {
            "true": {"value": truth, "std_error": 0.0, "n_test": 0, "message": ""},
            "rows": rows,
            "warnings": {},
        }
    return StudyResults(grid, records)


@cache
def figure_of(what, n_rules=2, **parts):
    """Return a figure that is drawn, once for all tests that only look at it."""
    figure = made(n_rules, **parts).plot(what)
    figure.canvas.draw()
    return figure


def nothing_done():
    return StudyResults(made().grid, {})


def drawn_lines(ax):
    """Return the lines with bars of a panel, by name: x, y and the ends of the bars."""
    found = {}
    for container in ax.containers:
        line, _, (bars,) = container.lines
        ends = np.array(bars.get_segments())[:, :, 1]
        found[container.get_label()] = (line.get_xdata(), line.get_ydata(), ends[:, 0], ends[:, 1])
    return found


def legend_names(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def all_texts(figure):
    shown = [*legend_names(figure)]
    for ax in figure.axes:
        labels = [one.get_text() for one in ax.get_yticklabels()]
        shown += [ax.get_title(), ax.get_ylabel(), *labels]
        shown += [text.get_text() for text in ([] if ax.get_legend() is None else ax.get_legend().get_texts())]
    return " | ".join(shown)


@cache
def summary_of(what):
    return made().summary(what)


def cell_table(rule, name, what):
    return summary_of(what).xs((rule, name), level=("rule", "estimator")).sort_index()


@every_kind
def test_figure_can_be_drawn(what):
    assert all(ax.has_data() for ax in figure_of(what).axes)


some_kinds = pytest.mark.parametrize("what", ["true_error", "deviations", "rms", "bias", "coverage", "seconds"])


@some_kinds
def test_figure_of_a_single_repetition_can_be_drawn(what):
    assert all(ax.has_data() for ax in figure_of(what, 1, repetitions=1).axes)


@some_kinds
def test_figure_of_one_size_can_be_drawn(what):
    assert all(ax.has_data() for ax in figure_of(what, 1, sizes=(20,)).axes)


@some_kinds
def test_figure_of_nothing_done_has_empty_panels(what):
    figure = nothing_done().plot(what)
    figure.canvas.draw()
    assert not any(ax.containers or means(ax) for ax in figure.axes)


@pytest.mark.parametrize("what", ["coverage", "width", "interval_score"])
def test_figure_of_intervals_that_nobody_has_has_no_names(what):
    assert legend_names(figure_of(what, 1, intervals=False)) == []


numbers_of_rules = pytest.mark.parametrize("n_rules", [1, 2, 3, 4, 5])


@numbers_of_rules
def test_figure_has_one_panel_per_rule(n_rules):
    titles = [ax.get_title() for ax in figure_of("rms", n_rules).axes]
    assert titles == list(RULES[:n_rules])


@numbers_of_rules
def test_panels_stand_two_in_a_row(n_rules):
    lefts = {round(ax.get_position().x0, 2) for ax in figure_of("rms", n_rules).axes}
    assert len(lefts) == min(2, n_rules)


@numbers_of_rules
def test_lowest_panel_of_every_column_has_a_labelled_horizontal_axis(n_rules):
    lowest = figure_of("rms", n_rules).axes[-2:]
    assert [ax.get_xlabel() for ax in lowest] == ["sample size n"] * len(lowest)


def test_distributions_have_one_panel_per_rule():
    titles = [ax.get_title() for ax in figure_of("deviations", 3).axes]
    assert titles == ["linear SVM, n = 100", "RBF-SVM, n = 100", "CART, n = 100"]


@numbers_of_rules
def test_lowest_panel_of_every_column_has_numbers_below(n_rules):
    for ax in figure_of("rms", n_rules).axes[-2:]:
        assert [tick.get_text() for tick in ax.get_xticklabels() if tick.get_visible()] == ["20", "60", "100"]


@every_kind
def test_horizontal_axis_is_labelled(what):
    assert figure_of(what).axes[-1].get_xlabel()


@every_kind
def test_first_panel_of_every_row_has_a_labelled_vertical_axis(what):
    assert all(ax.get_ylabel() for ax in figure_of(what).axes[::2])


@every_metric
def test_legend_names_all_estimators_in_order(what):
    assert legend_names(figure_of(what)) == list(ESTIMATORS)


@pytest.mark.parametrize("what", ["rms", "deviations", "coverage"])
def test_figure_of_a_single_estimator_names_it(what):
    assert "bolstered" in all_texts(made().plot(what, estimators=["bolstered"]))


def test_figure_of_true_errors_of_a_single_rule_names_it():
    assert "linear SVM" in all_texts(made(1).plot("true_error"))


@every_metric
def test_lines_are_those_of_the_summary(what):
    for ax in figure_of(what).axes:
        for name, (_, y, *_) in drawn_lines(ax).items():
            np.testing.assert_array_equal(y, cell_table(ax.get_title(), name, what)[what])


@every_metric
def test_every_estimator_has_a_line_in_every_panel(what):
    assert [list(drawn_lines(ax)) for ax in figure_of(what).axes] == [list(ESTIMATORS)] * 2


@pytest.mark.parametrize("what", sorted(set(ALL) - {"coverage"}))
def test_bars_reach_two_standard_errors_to_both_sides(what):
    for ax in figure_of(what).axes:
        for name, (_, y, low, high) in drawn_lines(ax).items():
            error = cell_table(ax.get_title(), name, what)[f"{what}_se"].to_numpy()
            np.testing.assert_allclose([y - low, high - y], [2 * error, 2 * error], rtol=1e-9, atol=1e-15)


def test_bars_of_coverage_are_its_binomial_interval():
    for ax in figure_of("coverage").axes:
        for name, (_, _, low, high) in drawn_lines(ax).items():
            table = cell_table(ax.get_title(), name, "coverage")
            np.testing.assert_allclose([low, high], [table["coverage_low"], table["coverage_high"]], rtol=1e-12)


def test_lines_stand_beside_each_other_close_to_the_sizes():
    lines = drawn_lines(figure_of("rms").axes[0])
    places = np.array([x for x, *_ in lines.values()])
    assert (np.abs(places - [20, 60, 100]) < 2).all()
    assert len(np.unique(places)) == places.size


@pytest.mark.parametrize("sizes", [(20, 60, 100), (20, 400, 8000)], ids=["near", "wide"])
def test_many_lines_stay_close_to_the_sizes(sizes):
    lines = drawn_lines(made(1, sizes, PAPERS).plot("rms").axes[0])
    off = max(np.abs(np.log(x / np.array(sizes))).max() for x, *_ in lines.values())
    assert off < 0.15


@pytest.mark.parametrize(("sizes", "scale"), [((20, 60, 100), "linear"), ((100, 1000, 10_000), "log")])
def test_sizes_far_apart_have_a_logarithmic_axis(sizes, scale):
    assert {ax.get_xscale() for ax in made(sizes=sizes).plot("rms").axes} == {scale}


@every_metric
def test_everything_drawn_lies_within_the_axes(what):
    """Values grow from rule to rule, so that limits found from the first panel alone cut the others off."""
    for ax in figure_of(what).axes:
        bottom, top = ax.get_ylim()
        for _, y, *_ in drawn_lines(ax).values():
            assert bottom <= y.min()
            assert y.max() <= top


def test_bars_lie_within_the_axes_where_limits_are_not_set_to_zero():
    for ax in figure_of("bias").axes:
        bottom, top = ax.get_ylim()
        for _, _, low, high in drawn_lines(ax).values():
            assert bottom <= low.min()
            assert high.max() <= top


@pytest.mark.parametrize("what", ["rms", "variance", "absolute_bias", "width", "estimate_mean", "interval_score"])
def test_axis_of_what_cannot_be_negative_begins_at_zero(what):
    assert {ax.get_ylim()[0] for ax in figure_of(what).axes} == {0.0}


def horizontal_lines(ax):
    return [line.get_ydata()[0] for line in ax.lines if len(set(line.get_ydata())) == 1 and len(line.get_xdata()) == 2]


def test_bias_has_a_line_at_zero_in_every_panel():
    assert [horizontal_lines(ax) for ax in figure_of("bias").axes] == [[0]] * 2


def test_coverage_has_a_line_at_the_level_of_the_study_in_every_panel():
    assert [horizontal_lines(ax) for ax in figure_of("coverage").axes] == [[0.9]] * 2


def test_times_have_a_logarithmic_axis():
    assert {ax.get_yscale() for ax in figure_of("seconds").axes} == {"log"}


def styles(figure):
    return [
        (to_hex(container.lines[0].get_color()), container.lines[0].get_linestyle())
        for container in figure.axes[0].containers
    ]


def test_seventeen_estimators_differ_in_colour_or_dash():
    assert len(set(styles(figure_of("rms", 1, estimators=PAPERS)))) == len(PAPERS) == 17


def test_eight_estimators_differ_in_colour():
    assert len({colour for colour, _ in styles(made(1, estimators=PAPERS[:8]).plot("rms"))}) == 8


def test_estimator_has_one_style_in_all_panels():
    figure = figure_of("rms")
    colours = [[container.lines[0].get_color() for container in ax.containers] for ax in figure.axes]
    assert colours[0] == colours[1]


def test_estimators_can_be_chosen():
    figure = made().plot("rms", estimators=["cv", "resub"])
    assert [list(drawn_lines(ax)) for ax in figure.axes] == [["cv", "resub"]] * 2


def test_one_estimator_can_be_chosen_by_its_name():
    assert list(drawn_lines(made().plot("rms", estimators="cv").axes[0])) == ["cv"]


@pytest.mark.parametrize(
    "kind", [list, tuple, iter, np.array, pd.Index], ids=["list", "tuple", "iter", "array", "index"]
)
def test_names_come_in_any_iterable(kind):
    figure = made().plot("rms", estimators=kind(["cv", "resub"]), rules=kind(["RBF-SVM", "linear SVM"]))
    assert [(ax.get_title(), list(drawn_lines(ax))) for ax in figure.axes] == [
        ("RBF-SVM", ["cv", "resub"]),
        ("linear SVM", ["cv", "resub"]),
    ]


def test_rules_can_be_chosen():
    assert [ax.get_title() for ax in made(4).plot("rms", rules=["3NN", "CART"]).axes] == ["3NN", "CART"]


def test_rules_of_true_errors_can_be_chosen():
    assert list(drawn_lines(made(4).plot("true_error", rules=["3NN", "CART"]).axes[0])) == ["3NN", "CART"]


def test_true_errors_of_all_rules_share_one_panel():
    results = made()
    (ax,) = figure_of("true_error").axes
    lines = drawn_lines(ax)
    assert list(lines) == list(RULES[:2])
    for rule, (_, y, *_) in lines.items():
        np.testing.assert_allclose(y, results.to_xarray()["true_error"].sel(rule=rule).mean("repetition"), rtol=1e-12)


def test_legend_of_true_errors_names_the_rules():
    assert legend_names(figure_of("true_error")) == list(RULES[:2])


def test_true_errors_do_not_depend_on_an_estimator_that_failed():
    results = made(failed="resub")
    lines = drawn_lines(results.plot("true_error").axes[0])
    expected = results.to_xarray()["true_error"].sel(rule="linear SVM").mean("repetition")
    np.testing.assert_allclose(lines["linear SVM"][1], expected, rtol=1e-12)


def test_estimator_without_numbers_has_no_line():
    assert list(drawn_lines(made(failed="bolstered").plot("rms").axes[0])) == ["resub", "cv"]


def test_estimators_keep_their_style_where_one_has_no_numbers():
    whole, part = (styles(made(failed=failed).plot("rms")) for failed in (None, "bolstered"))
    assert part == [whole[0], whole[2]]


def means(ax):
    """Return where the dots of a panel of distributions stand."""
    return [float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == "o"]


def test_distributions_have_their_mean_at_the_bias():
    results = made()
    for ax, rule in zip(results.plot("deviations", n=60).axes, RULES, strict=False):
        bias = results.summary("bias")["bias"].xs((rule, 60), level=("rule", "n"))
        assert means(ax) == pytest.approx(bias.tolist())


def test_distributions_name_the_estimators_on_the_axis():
    assert [tick.get_text() for tick in figure_of("deviations").axes[0].get_yticklabels()] == list(ESTIMATORS)


def test_first_estimator_of_distributions_stands_on_top():
    bottom, top = figure_of("deviations").axes[-1].get_ylim()
    assert bottom > 2 > 0 > top


def test_distributions_are_of_the_size_asked_for():
    assert made().plot("deviations", n=20).axes[0].get_title() == "linear SVM, n = 20"


@pytest.mark.parametrize("sizes", [(20, 60, 100), (100, 60, 20)], ids=["rising", "falling"])
def test_distributions_are_of_the_largest_size_by_default(sizes):
    assert made(sizes=sizes).plot("deviations").axes[0].get_title() == "linear SVM, n = 100"


def test_distribution_of_estimators_without_numbers_is_an_empty_row():
    assert len(means(made(failed="bolstered").plot("deviations").axes[0])) == 2


def test_middle_half_of_a_distribution_lies_between_its_quartiles():
    values = np.random.default_rng(0).normal(size=101)
    ax = plot_deviations({"resub": values})
    (segment,) = (one for found in ax.collections if hasattr(found, "get_segments") for one in found.get_segments())
    assert segment[:, 0] == pytest.approx(np.percentile(values, [25, 75]))


def test_lines_are_drawn_into_the_axes_given():
    _, ax = plt.subplots()
    sizes, values = np.array([20, 40]), np.array([0.1, 0.05])
    assert plot_lines({"resub": (sizes, values, values, values)}, "rms", ax) is ax


def test_distributions_are_drawn_into_the_axes_given():
    _, ax = plt.subplots()
    assert plot_deviations({"resub": np.array([0.1, 0.2])}, ax) is ax


LAYOUTS = [("rms", 1), ("rms", 2), ("bias", 3), ("deviations", 1), ("deviations", 3), ("true_error", 1)]
every_layout = pytest.mark.parametrize(("what", "n_rules"), LAYOUTS)


@every_layout
def test_nothing_is_cut_off_at_the_edges_of_the_figure(what, n_rules):
    """The names are the paper's and ours, the longest that we use; edges may be passed by a hundredth of an inch."""
    figure = figure_of(what, n_rules, estimators=PAPERS)
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(box.x0, box.y0, width - box.x1, height - box.y1) > -0.01


@pytest.mark.parametrize("n_rules", [1, 2])
def test_legend_does_not_cover_the_panels(n_rules):
    figure = figure_of("rms", n_rules, estimators=PAPERS)
    top = figure.legends[0].get_window_extent().y1
    assert all(ax.get_tightbbox().y0 >= top - 1 for ax in figure.axes)


@every_layout
def test_panels_are_large_enough_to_be_read(what, n_rules):
    figure = figure_of(what, n_rules, estimators=PAPERS)
    boxes = [ax.get_window_extent() for ax in figure.axes]
    assert min(min(box.width, box.height) for box in boxes) / figure.dpi > 1.5


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return a folder that does not exist before, with what is saved by default, and the figures left open."""
    folder = tmp_path_factory.mktemp("saved") / "new" / "folder"
    other = plt.figure()
    made().save(folder)
    left = [number for number in plt.get_fignums() if number != other.number]
    return folder, left, plt.fignum_exists(other.number)


def test_saving_writes_tables_and_figures(saved):
    names = {f"{what}.{ending}" for what in ("true_error", "bias", "variance", "rms") for ending in ("svg", "png")}
    assert {path.name for path in saved[0].iterdir()} == {"summary.csv", "timing.csv", *names}


def test_saving_leaves_no_figure_open(saved):
    assert saved[1] == []


def test_saving_leaves_the_figures_of_others_open(saved):
    assert saved[2]


SAVED = {
    "true_error": "true error (mean)",
    "bias": "bias (estimate less true error)",
    "variance": "deviation variance",
    "rms": "RMS of the deviation",
}


@pytest.mark.parametrize(("what", "label"), SAVED.items(), ids=SAVED)
def test_saved_svg_is_an_image_of_what_its_name_says(saved, what, label):
    """Matplotlib notes what its outlines of letters say in comments."""
    text = (saved[0] / f"{what}.svg").read_text()
    assert ET.fromstring(text).tag.endswith("svg")
    assert f"<!-- {label} -->" in text


@pytest.mark.parametrize("what", SAVED)
def test_saved_png_shows_something(saved, what):
    image = plt.imread(saved[0] / f"{what}.png")
    assert image.shape[1] >= 500
    assert np.ptp(image[..., :3]) == 1


def test_saving_writes_the_figures_asked_for(tmp_path):
    made().save(tmp_path, figures=["coverage"])
    names = {"coverage.svg", "coverage.png"}
    assert {path.name for path in tmp_path.iterdir()} == {"summary.csv", "timing.csv", *names}


def test_saved_summary_reads_back_equal(tmp_path):
    """To six digits after the point."""
    results = made()
    results.save(tmp_path, figures=[])
    found = pd.read_csv(tmp_path / "summary.csv", index_col=["rule", "n", "estimator"])
    pd.testing.assert_frame_equal(found, results.summary(), rtol=0, atol=5.1e-7, check_exact=False)


def test_saved_summary_keeps_the_digits_of_small_numbers(tmp_path):
    """With standard deviations of 0.003, as at large samples, variances are of the order of 1e-5."""
    results = made(scale=0.1)
    results.save(tmp_path, figures=[])
    found = pd.read_csv(tmp_path / "summary.csv", index_col=["rule", "n", "estimator"])
    columns = ["variance", "variance_se", "internal_variance", "internal_variance_se"]
    np.testing.assert_allclose(found[columns], results.summary()[columns], rtol=0.01)


def test_saved_timing_reads_back_equal(tmp_path):
    results = made()
    results.save(tmp_path, figures=[])
    found = pd.read_csv(tmp_path / "timing.csv", index_col=["rule", "n"])
    np.testing.assert_allclose(found, results.timing(), rtol=0, atol=5.1e-4)
    assert (found.index.tolist(), list(found.columns)) == (results.timing().index.tolist(), list(ESTIMATORS))


def test_names_that_begin_with_an_underscore_are_in_the_legend():
    sizes, values = np.array([20, 40]), np.array([0.1, 0.05])
    figure = plot_study({"LDA": {"_mine": (sizes, values, values, values)}}, "rms")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["_mine"]


@pytest.mark.parametrize("nothing", [{"estimators": []}, {"rules": []}], ids=["estimators", "rules"])
def test_a_figure_of_nothing_is_refused(nothing):
    with pytest.raises(ValueError, match="must name at least one each to show; got none"):
        made().plot("rms", **nothing)
