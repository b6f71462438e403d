"""Gaussian-process probabilities against MCMC, determinants, finite differences, scikit-learn's checks, and limits."""

import copy
import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayes_gresub as bg

torch = pytest.importorskip("torch")
gpytorch = pytest.importorskip("gpytorch")

from bayes_gresub.posteriors.gp import laplace  # noqa: E402
from bayes_gresub.posteriors.gp.approximations import Inducing, Laplace, Variational  # noqa: E402
from bayes_gresub.posteriors.gp.latent_kernels import LatentKernel  # noqa: E402

REFERENCE = json.loads(Path(__file__).with_name("latent_reference.json").read_text(encoding="utf-8"))


def latent_sample(n, c, seed=0, weighted=True):
    """Return points, counts of labels there, and a kernel with unequal numbers."""
    rng = np.random.default_rng(seed)
    x = torch.as_tensor(rng.normal(size=(n, 2)))
    counts = torch.zeros((n, c), dtype=torch.float64)
    counts[torch.arange(n), torch.as_tensor(rng.integers(c, size=n))] = 1.0
    if weighted:
        counts[:4] *= 2.5
    kernel = LatentKernel(c, 2, normalized=False, shared=False)
    kernel.start(np.linspace(0.8, 1.5, kernel.n_kernels), np.linspace(3.0, 7.0, kernel.n_kernels))
    return kernel, x, counts


@pytest.mark.parametrize("name", REFERENCE)
class TestAgainstMcmc:
    """At fixed length-scales and amplitudes; the reference's own standard error is below 0.01 at its worst point."""

    def differences(self, name, **given):
        case = REFERENCE[name]
        gp = bg.GaussianProcess(lengthscale=case["lengthscale"], amplitude=case["amplitude"], **given)
        gp.fit(np.array(case["X"]), case["y"])
        found = gp.predict_proba(np.concatenate([case["X"], case["X_new"]]))
        return np.abs(found - np.array(case["proba"]))

    def test_variational_is_near(self, name):
        differences = self.differences(name)
        assert differences.mean() < 0.01
        assert differences.max() < 0.06

    def test_inducing_points_at_all_points_change_nothing(self, name):
        case = REFERENCE[name]
        n = len(case["y"])
        assert self.differences(name, n_inducing=n - 1).mean() < 0.012

    def test_laplace_is_farther(self, name):
        assert self.differences(name).mean() < self.differences(name, approximation="laplace").mean() < 0.09


class TestBounds:
    """Bounds on the evidence, and their gradients."""

    @pytest.mark.parametrize("c", [2, 3, 5])
    def test_evidence_of_laplace_has_the_determinant(self, c):
        kernel, x, counts = latent_sample(12, c)
        with torch.no_grad():
            covariance = kernel(x)
            found = laplace.find_mode(covariance, counts.new_zeros((kernel.n_latents, 12)), counts, 1e-12)
        latents, n = found.f.shape
        whole = np.zeros((latents * n, latents * n))
        for i in range(n):
            p, rows = found.probabilities[:, i].numpy(), np.arange(latents) * n + i
            block = np.diag(p) - np.outer(p, p)
            whole[np.ix_(rows, rows)] = float(counts[i].sum()) * block
        prior = torch.block_diag(*covariance).numpy()
        right = np.linalg.slogdet(np.eye(latents * n) + prior @ whole)[1]
        assert float(found.log_det) == pytest.approx(right, rel=1e-9)

    @pytest.mark.parametrize("engine", [Variational, Laplace, Inducing])
    @pytest.mark.parametrize("c", [2, 3, pytest.param(5, marks=pytest.mark.long)])
    def test_gradients_are_those_of_differences(self, c, engine, monkeypatch):
        from bayes_gresub.posteriors.gp import newton as ascent

        monkeypatch.setattr(ascent, "_MOST_STEPS", 300)
        kernel, x, counts = latent_sample(15, c)
        more = {"points": x[:7]} if engine is Inducing else {}
        fitted = engine(kernel, x, counts, **more)
        fitted.ascend(1e-13)
        kernel.zero_grad()
        fitted.surrogate().backward()
        for parameter in (kernel.base.raw_lengthscale, kernel.scaled.raw_outputscale):
            slopes = parameter.grad.reshape(-1).clone()
            for k in range(len(slopes)):
                ends = []
                for sign in (1, -1):
                    parameter.data.view(-1)[k] += sign * 1e-3
                    ends.append(float(engine(kernel, x, counts, **more).ascend(1e-13)))
                    parameter.data.view(-1)[k] -= sign * 1e-3
                assert float(slopes[k]) == pytest.approx((ends[0] - ends[1]) / 2e-3, abs=2e-4)

    @pytest.mark.parametrize("c", [2, 3])
    def test_bound_is_below_the_evidence(self, c):
        """The evidence by importance sampling from q, whose log weights average to the bound."""
        kernel, x, counts = latent_sample(8, c, weighted=False)
        engine = Variational(kernel, x, counts)
        bound = float(engine.ascend())
        rng = np.random.default_rng(0)
        latents, n = engine.fit.mean.shape
        log_weights = np.zeros(400_000)
        f = np.empty((400_000, latents, n))
        for k in range(latents):
            prior = engine.covariance[k].detach().numpy()
            q = np.linalg.inv(np.linalg.inv(prior) + np.diag(engine.fit.precision[k].numpy()))
            law = stats.multivariate_normal(engine.fit.mean[k].numpy(), (q + q.T) / 2)
            f[:, k] = law.rvs(size=len(f), random_state=rng)
            log_weights += stats.multivariate_normal(np.zeros(n), prior).logpdf(f[:, k]) - law.logpdf(f[:, k])
        labels = counts.numpy().argmax(axis=1)
        if latents == 1:
            log_weights += np.log(expit(np.where(labels == 1, f[:, 0], -f[:, 0]))).sum(axis=1)
        else:
            shifted = f - np.log(np.exp(f).sum(axis=1, keepdims=True))
            log_weights += shifted[:, labels, np.arange(n)].sum(axis=1)
        evidence = np.log(np.mean(np.exp(log_weights)))
        error = log_weights.std() / np.sqrt(len(log_weights))
        assert log_weights.mean() == pytest.approx(bound, abs=4 * error + 0.02)
        assert bound < evidence < bound + 1.0


class TestDraws:
    """Joint draws of latents and probabilities."""

    @pytest.mark.parametrize("approximation", ["variational", "laplace"])
    @pytest.mark.parametrize("c", [2, 3])
    def test_latents_have_the_covariance_of_the_approximation(self, c, approximation):
        kernel, x, counts = latent_sample(6, c)
        engine = (Laplace if approximation == "laplace" else Variational)(kernel, x, counts)
        with torch.no_grad():
            engine.ascend()
            rng = np.random.default_rng(0)
            shape = (kernel.n_latents, 6, 200_000)
            drawn = engine.draw(*(torch.as_tensor(rng.normal(size=shape)) for _ in range(2)))
            mean, spread = engine.predict(x)
        np.testing.assert_allclose(drawn.mean(dim=2), mean, atol=0.03)
        variances = spread**2 if approximation == "variational" else (spread**2).sum(dim=2).T
        np.testing.assert_allclose(drawn.var(dim=2), variances, rtol=0.02, atol=0.01)

    @pytest.mark.parametrize("given", [{}, {"approximation": "laplace"}, {"n_inducing": 20}])
    def test_probabilities_average_to_those_reported(self, given):
        X, y = load_iris(return_X_y=True)
        gp = bg.GaussianProcess(random_state=0, max_iter=5, tol=0.1, **given).fit(X[::3], y[::3])
        drawn = np.concatenate(list(gp.training_draws(4000, np.random.default_rng(1))))
        np.testing.assert_allclose(drawn.sum(axis=2), 1.0)
        error = drawn.std(axis=0) / np.sqrt(len(drawn))
        assert (np.abs(drawn.mean(axis=0) - gp.training_proba()) < 4.5 * error + 3e-3).all()


@parametrize_with_checks([bg.GaussianProcess(approximation="laplace", tol=0.05)])
def test_scikit_learn_conventions(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@pytest.mark.long
@parametrize_with_checks(
    [
        bg.GaussianProcess(),
        bg.GaussianProcess(approximation="laplace"),
        bg.GaussianProcess(n_inducing=20, random_state=0),
    ]
)
def test_scikit_learn_conventions_at_the_default_tolerance(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


class TestOddSamples:
    """Samples that break other implementations."""

    @pytest.mark.parametrize("given", [{}, {"approximation": "laplace"}, {"n_inducing": 5}])
    def test_duplicates_constants_and_units(self, given):
        rng = np.random.default_rng(0)
        y = np.arange(30) % 3
        X = rng.normal(size=(30, 3)) + y[:, None]
        X[:, 2] = 7.0
        X = np.concatenate([X, X[:10]])
        y = np.concatenate([y, y[::-1][:10]])
        plain = bg.GaussianProcess(random_state=0, **given).fit(X, y).predict_proba(X)
        np.testing.assert_allclose(plain.sum(axis=1), 1.0)
        for factor in (1e6, 1e-6):
            scaled = bg.GaussianProcess(random_state=0, **given).fit(X * factor, y).predict_proba(X * factor)
            np.testing.assert_allclose(scaled, plain, atol=1e-3)

    def test_few_points_in_many_classes(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(20, 4)), np.arange(20) % 10
        found = bg.GaussianProcess().fit(X, y).predict_proba(rng.normal(size=(7, 4)))
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found.sum(axis=1), 1.0)

    def test_class_of_two_points(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(22, 2)), np.r_[np.zeros(10), np.ones(10), [2, 2]]
        found = bg.GaussianProcess().fit(X, y).predict_proba(X)
        assert np.isfinite(found).all()
        assert found[-2:, 2].mean() > found[:-2, 2].mean()

    def test_three_points_in_three_classes_are_as_in_a_batch(self):
        """As many points as classes is where GPyTorch's own softmax likelihood mistakes one for the other."""
        X, y = load_iris(return_X_y=True)
        gp = bg.GaussianProcess(tol=0.1).fit(X[::5], y[::5])
        points = X[[3, 70, 120]]
        np.testing.assert_allclose(gp.predict_proba(points), gp.predict_proba(X[:150])[[3, 70, 120]], atol=1e-12)

    @pytest.mark.parametrize(("factor", "offset"), [(1e150, 0.0), (1e-150, 0.0), (1.0, 1e9)])
    def test_extreme_units_lose_no_feature(self, factor, offset):
        X, y = load_iris(return_X_y=True)
        X, y = X[::5], y[::5]
        plain = bg.GaussianProcess(tol=0.01).fit(X, y).training_proba()
        moved = bg.GaussianProcess(tol=0.01).fit(X * factor + offset, y).training_proba()
        np.testing.assert_allclose(moved, plain, atol=1e-4)

    def test_images_are_rows(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(30, 2, 3)), np.arange(30) % 2
        images, rows = (bg.GaussianProcess(tol=0.01).fit(one, y) for one in (X, X.reshape(30, 6)))
        np.testing.assert_array_equal(images.predict_proba(X), rows.predict_proba(X.reshape(30, 6)))
        assert images.n_features_in_ == 6
        with pytest.raises(ValueError, match="expecting 6 features"):
            images.predict_proba(X[:, :, :2])

    @pytest.mark.parametrize("given", [{}, {"approximation": "laplace"}, {"n_inducing": 20}])
    def test_names_order_and_sign_do_not_matter(self, given):
        """Rows, features and classes in another order. A search along another path ends within its tolerance."""
        X, y = load_iris(return_X_y=True)
        X, y = X[::5], y[::5]
        right = bg.GaussianProcess(random_state=0, **given).fit(X, y).predict_proba(X)
        tolerance = 2e-3 if given else 1e-5
        for order in ([1, 2, 0], [2, 1, 0]):
            renamed = bg.GaussianProcess(random_state=0, **given).fit(X, np.array(order)[y]).predict_proba(X)
            np.testing.assert_allclose(renamed[:, order], right, atol=tolerance)
        if "n_inducing" not in given:
            turned = bg.GaussianProcess(**given).fit(-X[::-1, ::-1], y[::-1]).predict_proba(-X[:, ::-1])
            np.testing.assert_allclose(turned, right, atol=tolerance)

    @pytest.mark.parametrize("given", [{}, {"approximation": "laplace"}, {"n_inducing": 6}])
    def test_fits_can_be_copied_and_kept(self, given):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
        gp = bg.GaussianProcess(random_state=0, tol=0.1, **given).fit(X, y)
        for other in (copy.deepcopy(gp), pickle.loads(pickle.dumps(gp))):
            np.testing.assert_array_equal(other.predict_proba(X), gp.predict_proba(X))
        gp.training_proba()[:] = 0.0
        np.testing.assert_allclose(gp.training_proba().sum(axis=1), 1.0)

    def test_a_failed_fit_keeps_the_one_before(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(21, 2)), np.arange(21) % 3
        gp = bg.GaussianProcess(tol=0.1).fit(X, y)
        before = gp.predict_proba(X)
        gp.amplitude = [1.0, 2.0, 3.0]
        with pytest.raises(ValueError, match="one for each of 2 classes"):
            gp.fit(X, np.arange(21) % 2)
        np.testing.assert_array_equal(gp.predict_proba(X), before)
        assert len(gp.classes_) == 3

    def test_gradients_may_be_switched_off_around_it(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(12, 2)), np.arange(12) % 2
        right = bg.GaussianProcess(tol=0.1).fit(X, y).elbo_
        for context in (torch.no_grad, torch.inference_mode):
            with context():
                assert bg.GaussianProcess(tol=0.1).fit(X, y).elbo_ == right

    def test_matrices_of_low_rank_are_factored_with_more_jitter(self):
        """All points are nearly one to a length-scale of 1,000: the covariance has rank 1 to rounding."""
        from linear_operator.utils.warnings import NumericalWarning

        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
        gp = bg.GaussianProcess(lengthscale=1000.0, amplitude=1e-6).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NumericalWarning)
            (drawn,) = gp.training_draws(50, rng)
        np.testing.assert_allclose(drawn.sum(axis=2), 1.0)
        np.testing.assert_allclose(drawn, 0.5, atol=0.01)

    def test_weights_are_repetitions(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(24, 2)), np.arange(24) % 2
        weights = rng.integers(0, 4, size=24)
        weighted = bg.GaussianProcess().fit(X, y, sample_weight=weights).predict_proba(X)
        repeated = bg.GaussianProcess().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).predict_proba(X)
        np.testing.assert_allclose(weighted, repeated, atol=1e-10)
        gp = bg.GaussianProcess().fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(gp.training_proba(), gp.predict_proba(X[weights > 0]), atol=1e-12)

    def test_pure_noise_gives_class_frequencies(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(200, 2)), (np.arange(200) % 4 == 0).astype(int)
        found = bg.GaussianProcess().fit(X, y).predict_proba(rng.normal(size=(50, 2)))[:, 1]
        assert abs(found.mean() - 0.25) < 0.06
        assert found.std() < 0.12

    @pytest.mark.parametrize("c", [2, 3])
    def test_normalized_kernel_with_very_many_features(self, c):
        rng = np.random.default_rng(0)
        with pytest.warns(UserWarning, match="collapse"):
            gp = bg.GaussianProcess("normalized").fit(rng.normal(size=(30, 200)), np.arange(30) % c)
        np.testing.assert_allclose(gp.training_proba(), 1 / c, atol=0.01)

    def test_normalized_kernel_collapses_with_many_features(self):
        rng = np.random.default_rng(0)
        y = np.arange(40) % 2
        X = rng.normal(size=(40, 10)) + 2 * y[:, None]
        with pytest.warns(UserWarning, match="collapse"):
            gp = bg.GaussianProcess("normalized", lengthscale=1.0).fit(X, y)
        assert gp.amplitudes_[0] == pytest.approx((2 * np.pi) ** -5)
        np.testing.assert_allclose(gp.predict_proba(X), 0.5, atol=0.01)


class TestBadInput:
    """Errors before any work."""

    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"kernel": "matern"}, "unknown kernel"),
            ({"approximation": "ep"}, "unknown approximation"),
            ({"lengthscale": -1.0}, "lengthscale must be a number above 0"),
            ({"amplitude": [1.0, 2.0, 3.0]}, "amplitude must be a number above 0, or one for each of 2 classes"),
            ({"lengthscale": [1.0, 2.0]}, "lengthscale must be the same for all classes with two classes"),
            ({"lengthscale": "a"}, "lengthscale must be a number above 0"),
            ({"lengthscale": True}, "lengthscale must be a number above 0"),
            ({"amplitude": {}}, "amplitude must be a number above 0"),
            ({"shared": "yes"}, "shared must be True or False; got 'yes'"),
            ({"progress": 3}, "progress must be True or False; got 3"),
            ({"max_iter": 0}, "max_iter must be"),
            ({"tol": 0.0}, "tol must be"),
            ({"n_inducing": 0}, "n_inducing must be"),
            ({"n_inducing": "many"}, "n_inducing must be"),
            ({"approximation": "laplace", "n_inducing": 5}, "inducing points"),
            ({"kernel": "normalized", "amplitude": 2.0}, "amplitude"),
        ],
    )
    def test_parameters(self, given, message):
        with pytest.raises(ValueError, match=message):
            bg.GaussianProcess(**given).fit(self.X, self.y)

    def test_samples(self):
        with pytest.raises(ValueError, match="at least two classes; got 1"):
            bg.GaussianProcess().fit(self.X, np.zeros(10))
        with pytest.raises(ValueError, match="NaN"):
            bg.GaussianProcess().fit(np.where(self.X == 4, np.nan, self.X), self.y)
        with pytest.raises(ValueError, match="expecting 2 features"):
            bg.GaussianProcess().fit(self.X, self.y).predict_proba(np.ones((3, 5)))

    def test_devices_that_are_not_there(self):
        for device in ("warp", "meta", None, 3.5):
            with pytest.raises(ValueError, match=r"device must be one that torch can use here"):
                bg.GaussianProcess(device=device).fit(self.X, self.y)

    def test_matrices_that_cannot_be_factored_are_reported_in_words(self, monkeypatch):
        from linear_operator.utils.errors import NotPSDError

        from bayes_gresub.posteriors.gp import variational

        def fail(matrix):
            raise NotPSDError("Matrix not positive definite after repeatedly adding jitter up to 1.0e-06.")

        monkeypatch.setattr(variational, "psd_safe_cholesky", fail)
        with pytest.raises(
            RuntimeError, match=r"10 points could not be factored, also with more jitter.*Give a length"
        ):
            bg.GaussianProcess().fit(self.X, self.y)

    def test_progress_is_shown_on_request(self, capsys):
        bg.GaussianProcess(progress=True).fit(self.X, self.y)
        assert "length-scales" in capsys.readouterr().err
        bg.GaussianProcess().fit(self.X, self.y)
        assert not capsys.readouterr().err

    def test_steps_that_run_out_warn(self):
        X, y = load_iris(return_X_y=True)
        with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
            bg.GaussianProcess(max_iter=1, tol=1e-12).fit(X[::5], y[::5])
