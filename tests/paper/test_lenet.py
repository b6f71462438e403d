"""LeNet-5 as a rule: it learns, a seed decides everything, and a fit that does not learn is said to."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import bayes_gresub as bg

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def sample():
    return bg.datasets.digits().sample(150, random_state=0)


@pytest.fixture(scope="module")
def network(sample):
    return bg.paper.LeNet5(random_state=0).fit(*sample)


def test_it_learns_digits(network):
    population = bg.datasets.digits()
    _, _, rest = population.draw(150, 0)
    assert rest.true_error(network).value < 0.3
    assert not network.failed_


def test_layers_are_those_of_lenet_on_mnist():
    """Parameters of the published network with full connections between its convolutions: 61,706."""
    from bayes_gresub.paper.lenet_layers import lenet5

    module = lenet5(torch.rand(2, 1, 28, 28), 10)
    assert sum(parameter.numel() for parameter in module.parameters()) == 61706
    assert module(torch.rand(3, 1, 28, 28)).shape == (3, 10)


@pytest.mark.parametrize("shape", [(1, 4, 4), (3, 8, 8), (1, 17, 9), (1, 18, 18), (2, 32, 32)])
def test_images_of_any_size(shape):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, *shape)), np.arange(20) % 2
    fitted = bg.paper.LeNet5(max_epochs=1, restarts=0, validation_fraction=0.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert fitted.fit(X, y).predict_proba(X).shape == (20, 2)


def test_seed_decides_everything(sample):
    X, y = sample
    first, again = (bg.paper.LeNet5(max_epochs=3, restarts=0, random_state=5) for _ in range(2))
    other = bg.paper.LeNet5(max_epochs=3, restarts=0, random_state=6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        torch.manual_seed(1)
        logits = first.fit(X, y).predict_log_proba(X)
        torch.manual_seed(2)
        np.testing.assert_array_equal(again.fit(X, y).predict_log_proba(X), logits)
        assert np.abs(other.fit(X, y).predict_log_proba(X) - logits).max() > 1e-3


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_global_generator_and_threads_are_left_alone(sample):
    X, y = sample
    torch.manual_seed(0)
    state = torch.get_rng_state()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        bg.paper.LeNet5(max_epochs=1, restarts=0).fit(X, y)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize("form", [lambda X: X[:, 0], lambda X: X.reshape(len(X), -1), lambda X: 255 * X - 7])
def test_form_and_unit_of_grey_values_do_not_matter(sample, form):
    X, y = sample
    fits = [bg.paper.LeNet5(max_epochs=2, restarts=0, random_state=0) for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        right, moved = (fit.fit(one, y).predict_proba(one) for fit, one in zip(fits, (X, form(X)), strict=True))
    np.testing.assert_allclose(moved, right, atol=1e-4)


def test_training_stops_when_the_loss_has_not_fallen_for_a_while(network):
    losses = network.validation_losses_
    assert network.n_epochs_ == len(losses) <= 200
    if len(losses) < 200:
        assert min(losses[-10:]) >= min(losses[:-10])
    best_before = np.minimum.accumulate(losses)
    waits = [k - int(np.argmax(losses[: k + 1] == best_before[k])) for k in range(len(losses))]
    assert max(waits[:-1]) < 10


def test_fit_that_fails_is_said_to_and_was_tried_again(sample):
    """A rate of 1e-6 learns nothing."""
    X, y = sample
    with pytest.warns(ConvergenceWarning, match="LeNet5 failed to learn in 3 fits"):
        fitted = bg.paper.LeNet5(learning_rate=1e-6, max_epochs=2, random_state=0).fit(X, y)
    assert fitted.failed_
    assert fitted.n_restarts_ == 2


def test_training_that_diverges_has_failed(sample):
    X, y = sample
    with pytest.warns(ConvergenceWarning, match="failed to learn"):
        bg.paper.LeNet5(learning_rate=1e30, max_epochs=3, restarts=0, random_state=0).fit(X, y)


def test_features_and_head_are_the_network(network, sample):
    X, _ = sample
    features = network.features().transform(X)
    assert features.shape == (150, 84)
    np.testing.assert_array_equal(network.head().predict(features), network.predict(X))


def test_labels_of_any_type(sample):
    X, y = sample
    names = np.array([f"digit {k}" for k in range(10)])
    plain = bg.paper.LeNet5(random_state=0).fit(X[:60], y[:60] % 2)
    named = clone(plain).fit(X[:60], names[y[:60] % 2])
    assert (named.predict(X) == names[plain.predict(X)]).all()


def test_resamplers_and_measures_take_it(sample):
    X, y = sample
    rule = bg.paper.LeNet5(learning_rate=0.2, max_epochs=40)
    measure = bg.Bolstered(bg.DiagonalGaussian(), n_points=8)
    calibrated = bg.Calibrated(measure, repeats=1, step=1.0, max_kappa=4.0, search="bisection", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        estimate = calibrated.error(rule, X, y)
        again = calibrated.error(rule, X, y)
    assert 0 < estimate.value < 1
    assert again.value == estimate.value


class TestBadInput:
    """Errors before any work."""

    X, y = np.zeros((10, 1, 8, 8)), np.arange(10) % 2

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"learning_rate": 0.0}, "learning_rate must be a number between 0 and inf; got 0.0"),
            ({"validation_fraction": 1.0}, "validation_fraction must be a number between 0 and 0.9"),
            ({"batch_size": 0}, "batch_size must be a whole number of at least 1"),
            ({"max_epochs": 0}, "max_epochs must be"),
            ({"patience": 0}, "patience must be"),
            ({"restarts": -1}, "restarts must be a whole number of at least 0"),
            ({"random_state": np.random.default_rng(0)}, "got a Generator"),
        ],
    )
    def test_parameters(self, given, message):
        with pytest.raises(ValueError, match=message):
            bg.paper.LeNet5(**given).fit(self.X, self.y)

    @pytest.mark.parametrize("shape", [(10, 7), (10, 3, 3), (10, 1, 2, 3, 4)])
    def test_what_is_no_image(self, shape):
        with pytest.raises(ValueError, match="X must hold images of shape"):
            bg.paper.LeNet5().fit(np.zeros(shape), self.y)

    def test_one_class(self):
        with pytest.raises(ValueError, match="at least two classes"):
            bg.paper.LeNet5().fit(self.X, np.zeros(10))

    def test_not_fitted(self):
        with pytest.raises(NotFittedError):
            bg.paper.LeNet5().predict(self.X)
