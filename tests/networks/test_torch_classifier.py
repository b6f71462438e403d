"""Trained torch modules as classifiers: the same answers as NumPy's, in any batch, and the module left as it was."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import bayes_gresub as bg

torch = pytest.importorskip("torch")


def linear(weights, offsets, dtype=torch.float64):
    module = torch.nn.Linear(np.shape(weights)[1], len(weights), dtype=dtype)
    with torch.no_grad():
        module.weight[:] = torch.as_tensor(np.asarray(weights))
        module.bias[:] = torch.as_tensor(np.asarray(offsets))
    return module


@pytest.fixture
def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)).double()


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    return rng.normal(size=(60, 4)) + y[:, None], np.array(["a", "b", "c"])[y]


class NumPyNetwork:
    """The same network written out."""

    def __init__(self, network):
        self.layers = [
            (layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in (network[0], network[2])
        ]
        self.classes_ = np.array(["a", "b", "c"])

    def predict(self, X):
        (first, offset), (second, other) = self.layers
        return self.classes_[(np.tanh(X @ first.T + offset) @ second.T + other).argmax(axis=1)]


@pytest.mark.parametrize(
    "measure",
    [
        bg.Empirical(),
        bg.Bolstered(random_state=0),
        bg.PosteriorProbability(),
        bg.BolsteredPosterior(random_state=0),
        bg.Bayesian(bg.GaussianClasses(), sampler="gibbs", draws=100, random_state=0),
    ],
    ids=lambda measure: type(measure).__name__,
)
def test_masses_are_those_of_the_network_in_numpy(network, sample, measure):
    fitted = measure.fit(*sample)
    ours = fitted.error(bg.TorchClassifier(network, "abc"))
    theirs = fitted.error(NumPyNetwork(network))
    np.testing.assert_allclose(ours.confusion, theirs.confusion, atol=1e-12)


def test_linear_module_has_the_estimate_of_the_exact_formula():
    """Sampled against exact, within 4.5 of its standard errors: a false alarm in 150,000."""
    X, y = bg.datasets.PaperGaussian().sample(60, random_state=0)
    exact = LogisticRegression().fit(X, y)
    module = linear(exact.coef_, exact.intercept_)
    measure = bg.Bolstered(n_points=256, random_state=0).fit(X, y)
    sampled = measure.error(bg.TorchClassifier(module, [0, 1]))
    right = measure.error(exact)
    assert right.computation.exact
    assert not sampled.computation.exact
    assert abs(sampled.value - right.value) < 4.5 * sampled.std_error


def test_single_logit_is_that_of_the_second_class():
    classifier = bg.TorchClassifier(linear([[1.0, 0.0]], [0.0]), ["no", "yes"])
    X = [[-2.0, 0.0], [3.0, 0.0]]
    assert classifier.predict(X).tolist() == ["no", "yes"]
    np.testing.assert_allclose(classifier.predict_proba(X)[:, 1], 1 / (1 + np.exp([2.0, -3.0])), rtol=1e-12)
    np.testing.assert_allclose(np.exp(classifier.predict_log_proba(X)), classifier.predict_proba(X), rtol=1e-12)


def test_module_that_answers_one_dimension_is_one_logit():
    class Squeezed(torch.nn.Module):
        def forward(self, batch):
            return batch[:, 0]

    assert bg.TorchClassifier(Squeezed(), [0, 1]).predict([[1.0], [-1.0]]).tolist() == [1, 0]


def test_probabilities_are_the_softmax(network, sample):
    classifier = bg.TorchClassifier(network, "abc")
    logits = classifier.decision_function(sample[0])
    right = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(classifier.predict_proba(sample[0]), right, rtol=1e-12)
    np.testing.assert_allclose(np.exp(classifier.predict_log_proba(sample[0])), right, rtol=1e-12)


@pytest.mark.parametrize("batch_size", [1, 7, 59, 60, 1000])
def test_batches_change_nothing(network, sample, batch_size):
    whole = bg.TorchClassifier(network, "abc").decision_function(sample[0])
    parts = bg.TorchClassifier(network, "abc", batch_size=batch_size).decision_function(sample[0])
    np.testing.assert_allclose(parts, whole, atol=1e-12)


@pytest.mark.parametrize("training", [True, False])
def test_module_is_left_in_the_mode_it_was_in(training):
    """Each part of it: a user may have frozen the dropout of a module that is being trained."""
    module = torch.nn.Sequential(torch.nn.Dropout(0.9), torch.nn.Linear(3, 2)).train(training)
    module[0].train(not training)
    classifier = bg.TorchClassifier(module, [0, 1])
    X = np.ones((50, 3))
    np.testing.assert_array_equal(classifier.decision_function(X), classifier.decision_function(X))
    assert (module.training, module[0].training, module[1].training) == (training, not training, training)


def test_module_is_left_in_its_mode_when_it_fails():
    module = torch.nn.Linear(3, 2).train()
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        bg.TorchClassifier(module, [0, 1]).predict(np.ones((5, 4)))
    assert module.training


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_points_come_in_the_precision_of_the_module(dtype):
    seen = []

    class Spy(torch.nn.Linear):
        def forward(self, batch):
            seen.append((batch.dtype, batch.is_inference()))
            return super().forward(batch)

    bg.TorchClassifier(Spy(2, 2, dtype=dtype), [0, 1]).predict(np.ones((3, 2), dtype=int))
    assert seen == [(dtype, True)]


def test_images_keep_their_shape_through_a_measure():
    shapes = set()

    class Spy(torch.nn.Module):
        def forward(self, batch):
            shapes.add(tuple(batch.shape[1:]))
            return torch.stack([batch.mean(dim=(1, 2, 3)), -batch.mean(dim=(1, 2, 3))], dim=1)

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 1, 5, 5)).astype(np.float32), np.arange(20) % 2
    images = bg.Bolstered(bg.DiagonalGaussian(), random_state=0).fit(X, y).error(bg.TorchClassifier(Spy(), [0, 1]))
    assert shapes == {(1, 5, 5)}
    flat = bg.TorchClassifier(Spy(), [0, 1], input_shape=(1, 5, 5))
    rows = bg.Bolstered(bg.DiagonalGaussian(), random_state=0).fit(X.reshape(20, 25), y).error(flat)
    assert rows.value == images.value


def test_it_can_be_cloned(network, sample):
    classifier = bg.TorchClassifier(network, ["a", "b", "c"])
    np.testing.assert_array_equal(clone(classifier).predict(sample[0]), classifier.predict(sample[0]))
    assert classifier.score(*sample) == np.mean(classifier.predict(sample[0]) == sample[1])


def test_it_is_no_rule(network, sample):
    """It has nothing to refit: folds would judge it on points that it may have been trained on."""
    with pytest.raises(TypeError, match="rule must be an estimator with fit and predict"):
        bg.CrossValidation(5).error(bg.TorchClassifier(network, "abc"), *sample)


def test_frozen_it_is_a_posterior(network, sample):
    from sklearn.frozen import FrozenEstimator

    posterior = FrozenEstimator(bg.TorchClassifier(network, "abc"))
    estimate = bg.PosteriorProbability(posterior).fit(*sample).error(NumPyNetwork(network))
    proba = bg.TorchClassifier(network, "abc").predict_proba(sample[0])
    assert estimate.value == pytest.approx(1 - proba.max(axis=1).mean(), abs=1e-12)


def test_features_are_what_the_module_answers(network, sample):
    features = bg.TorchFeatures(network[:2]).fit(*sample).transform(sample[0])
    assert features.shape == (60, 8)
    head = bg.TorchClassifier(network[2], "abc")
    np.testing.assert_array_equal(head.predict(features), bg.TorchClassifier(network, "abc").predict(sample[0]))


class TestBadInput:
    """Errors that name what is wrong."""

    X = np.ones((4, 3))

    def test_modules(self):
        with pytest.raises(TypeError, match=r"module must be a torch\.nn\.Module; got str"):
            bg.TorchClassifier("net", [0, 1]).predict(self.X)

    @pytest.mark.parametrize("classes", [[0], [0, 0], [[0, 1], [2, 3]]])
    def test_classes(self, classes):
        with pytest.raises(ValueError, match="classes must be two or more different labels"):
            bg.TorchClassifier(torch.nn.Linear(3, 2), classes).predict(self.X)

    def test_number_of_logits(self):
        with pytest.raises(ValueError, match=r"one logit per class.*got shape \(4, 2\) for 3 classes"):
            bg.TorchClassifier(torch.nn.Linear(3, 2), [0, 1, 2]).predict(self.X)
        with pytest.raises(ValueError, match=r"got shape \(4,\) for 3 classes"):
            bg.TorchClassifier(torch.nn.Linear(3, 1), [0, 1, 2]).predict(self.X)

    def test_logits_that_are_not_finite(self):
        with pytest.raises(ValueError, match=r"finite logits; 4 are not\. Did its training diverge"):
            bg.TorchClassifier(linear([[np.nan] * 3, [0.0] * 3], [0.0, 0.0]), [0, 1]).predict(self.X)

    def test_answers_that_are_no_rows(self):
        class Sum(torch.nn.Module):
            def forward(self, batch):
                return batch.sum()

        with pytest.raises(ValueError, match="one row per point"):
            bg.TorchClassifier(Sum(), [0, 1]).predict(self.X)

    def test_shapes(self):
        with pytest.raises(ValueError, match=r"784 numbers, to be given the shape \(1, 28, 28\); got \(3,\)"):
            bg.TorchClassifier(torch.nn.Linear(3, 2), [0, 1], input_shape=(1, 28, 28)).predict(self.X)
        with pytest.raises(ValueError, match=r"X must be an array of numbers of shape \(n, ...\)"):
            bg.TorchClassifier(torch.nn.Linear(3, 2), [0, 1]).predict(["a"])

    def test_shape_of_a_batch_is_in_the_note(self):
        with pytest.raises(RuntimeError) as caught:
            bg.TorchClassifier(torch.nn.Conv2d(1, 2, 3), [0, 1]).predict(np.ones((4, 784)))
        assert "batch of shape (4, 784). If X is flat, set input_shape=" in caught.value.__notes__[0]

    def test_devices(self):
        with pytest.raises(
            ValueError, match=r"the module is on cpu, but device='meta'. Move it with module.to\('meta'\)"
        ):
            bg.TorchClassifier(torch.nn.Linear(3, 2), [0, 1], device="meta").predict(self.X)
        assert bg.TorchClassifier(torch.nn.Linear(3, 2), [0, 1], device="cpu").predict(self.X).shape == (4,)

    def test_batch_size(self):
        with pytest.raises(ValueError, match="batch_size must be a whole number of at least 1"):
            bg.TorchClassifier(torch.nn.Linear(3, 2), [0, 1], batch_size=0).predict(self.X)
