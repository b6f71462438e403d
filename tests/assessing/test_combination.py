"""The learned combination: its file, its networks against torch's, its inputs and its distances."""

from pathlib import Path

import numpy as np
import pytest
import torch

import bayes_gresub.assessing
from bayes_gresub.assessing.combination import FORMAT, as_inputs, mixture, read_combination, seen_populations
from bayes_gresub.data.arrays import Floats
from benchmarks.learn.case_table import OF_REFITS, as_table
from benchmarks.learn.training import Recipe, calibrate, deal, holds, learn, weights_of, write

FILE = Path(bayes_gresub.assessing.__file__).parent / "combination.npz"
QUICK = Recipe(hidden=6, parts=3, members=1, steps=60, batch=64)


def simulated(n: int = 240, seed: int = 0, noise: float = 0.0) -> list[dict]:
    """Return cases whose true error is known from one clue: 0.2 more than the apparent error, half of it noise."""
    rng = np.random.default_rng(seed)
    packaged = read_combination(True)
    cases = []
    for number in range(n):
        clues = dict.fromkeys(packaged.names, 0.1) | {"log_n": np.log(50.0), "has_own": 1.0, "has_doubt": 0.0}
        clues["apparent"] = float(rng.uniform(0, 0.5))
        error = np.clip(clues["apparent"] + 0.2 + noise * rng.normal(), 0.01, 0.99)
        case = {"n": 50, "n_truth": 1000, "n_wrong": int(rng.binomial(1000, error)), "clues": clues, "rule": "r"}
        place = (
            {"kind": f"kind{number % 6}"}
            if number % 2
            else {"kind": f"set{number % 6}", "data": f"set{number % 6}", "repetition": number}
        )
        cases.append(case | place)
    return cases


def test_file_is_small_and_holds_plain_numbers():
    assert FILE.stat().st_size < 2_000_000
    with np.load(FILE, allow_pickle=False) as stored:
        assert all(stored[name].dtype.kind in "fiuU" for name in stored.files)
        assert int(stored["format"]) == FORMAT


def test_populations_are_listed():
    seen = seen_populations()
    assert len(seen) >= 25
    assert min(seen.values()) > 0


@pytest.mark.parametrize("with_refits", [False, True])
def test_clues_of_refits_are_in_one_of_the_combinations(with_refits):
    names = read_combination(with_refits).names
    assert (set(OF_REFITS) <= set(names)) == with_refits


def test_other_formats_are_refused(tmp_path):
    with np.load(FILE) as stored:
        np.savez(tmp_path / "old.npz", **{**{name: stored[name] for name in stored.files}, "format": 99})
    with pytest.raises(ValueError, match=r"must have format 1; old\.npz has 99"):
        read_combination(False, tmp_path / "old.npz")


def test_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is none at .*none\.npz\. Leave it out"):
        read_combination(False, tmp_path / "none.npz")


def test_networks_are_those_that_torch_trained(tmp_path):
    """The same numbers by the arrays of the file and by the modules, on one network."""
    cases = as_table(simulated())
    recipe = Recipe(hidden=6, parts=2, members=1, steps=30, batch=64)
    combination = learn(cases, recipe)
    write(tmp_path / "both.npz", combination, combination, {"kind0": 1})
    stored = read_combination(True, tmp_path / "both.npz")
    clues = simulated()[3]["clues"]
    points = torch.tensor(stored.standardized(clues), dtype=torch.float64)
    arrays = {name: torch.tensor(value) for name, value in stored.arrays.items()}
    means, sizes = [], []
    for member in range(2):
        hidden = torch.nn.functional.silu(arrays["first"][member] @ points + arrays["first_offset"][member])
        hidden = torch.nn.functional.silu(arrays["second"][member] @ hidden + arrays["second_offset"][member])
        location, log_share = arrays["last"][member] @ hidden + arrays["last_offset"][member]
        means.append(torch.sigmoid(arrays["skip"][member] @ points + arrays["offset"][member] + location).item())
        sizes.append(50 * torch.exp(log_share).item())
    # Draws of the mixture of the two Beta distributions have its mean and variance.
    expected = np.mean(means)
    variance = np.mean([m * (1 - m) / (s + 1) for m, s in zip(means, sizes, strict=True)])
    variance += np.var(means, ddof=1)
    result = stored.predict(clues)
    assert result.mean == pytest.approx(expected, abs=1e-9)
    assert result.mean * (1 - result.mean) / (result.n_points + 1) == pytest.approx(variance, rel=1e-6)


def test_mixture_has_mean_and_variance_of_draws():
    """Draws of two Beta distributions in turn; the variance between the two means is that without bias, twice theirs.

    Tolerance: 4.5 standard errors of mean and variance of 200,000 draws; one false alarm in 100,000.
    """
    rng = np.random.default_rng(0)
    means, sizes = np.array([0.2, 0.3]), np.array([30.0, 60.0])
    draws = rng.beta(means * sizes, (1 - means) * sizes, size=(100_000, 2))
    mean, n_points = mixture(means, sizes)
    assert mean == pytest.approx(draws.mean(), abs=4.5 * draws.std() / np.sqrt(draws.size))
    more = np.var(means, ddof=1) - np.var(means)
    assert mean * (1 - mean) / (n_points + 1) == pytest.approx(draws.var() + more, rel=4.5 * 2 / np.sqrt(draws.size))


def test_what_is_as_extreme_as_anything_learned_from_is_not_strange(tmp_path):
    combination = learn(as_table(simulated(noise=0.05)), QUICK)
    write(tmp_path / "both.npz", combination, combination, {"kind0": 1})
    stored = read_combination(False, tmp_path / "both.npz")
    points = np.array([stored.standardized(case["clues"]) for case in simulated(noise=0.05)])
    assert (points <= stored.arrays["highest"]).all()
    assert (points >= stored.arrays["lowest"]).all()


def test_shares_become_logits_of_counts():
    values = np.array([[np.log(9.0), 1 / 3, 1.0], [np.log(9.0), 0.0, 0.0]])
    inputs: Floats = as_inputs(values, ("log_n", "own_error", "has_own"))
    assert inputs[0].tolist() == pytest.approx([np.log(9), np.log(3.5 / 6.5), 1.0])
    assert np.isnan(inputs[1, 1])


def test_clue_that_decides_is_learned():
    """Errors are 0.2 above the apparent error; with 1,000 points of truth their noise is at most 0.016."""
    cases = as_table(simulated(1200)).without_refits()
    combination = learn(cases, Recipe(hidden=16, parts=3, members=1, steps=900, batch=128))
    for apparent in (0.1, 0.3, 0.45):
        result = combination.predict(simulated(1)[0]["clues"] | {"apparent": apparent})
        assert result.mean == pytest.approx(apparent + 0.2, abs=0.03)


def test_factor_makes_intervals_hold_as_often_as_they_say():
    """Beta draws with 40 points, told to be 400 or 4: the factor brings back 40."""
    rng = np.random.default_rng(0)
    cases = as_table(simulated(4000)).without_refits()
    mean = np.full((1, 4000), 0.3)
    cases = cases.part(slice(None))
    object.__setattr__(cases, "n_wrong", cases.n_truth * rng.beta(0.3 * 40, 0.7 * 40, size=4000))
    for told in (4.0, 400.0):
        factor = calibrate(mean, np.full((1, 4000), told), cases, np.full(4000, 1 / 4000))
        assert factor * told == pytest.approx(40, rel=0.1)
        assert holds(mean[0], np.full(4000, factor * told), cases.truth).mean() == pytest.approx(0.95, abs=0.002)


def test_populations_stay_whole_in_the_parts():
    cases = as_table(simulated()).without_refits()
    part = deal(cases, 3, 0)
    for name in np.unique(cases.population):
        assert len(np.unique(part[cases.population == name])) == 1


def test_populations_of_one_sort_weigh_alike():
    cases = as_table(simulated(250)).without_refits()
    weights = weights_of(cases, 0.3)
    assert weights[cases.is_real].sum() == pytest.approx(0.3)
    real = [weights[cases.population == name].sum() for name in np.unique(cases.population[cases.is_real])]
    assert real == pytest.approx([0.1] * 3)


def test_clues_far_from_all_that_was_learned_are_strange():
    combination = learn(as_table(simulated(noise=0.05)).without_refits(), QUICK)
    clues = simulated(1)[0]["clues"]
    assert combination.predict(clues).strangeness < 1.5
    assert combination.predict(clues | {"separation": 100.0}).strangeness > 5
