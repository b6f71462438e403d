"""What an estimate costs beside a network's own forward passes: time, memory, and the price of calibration."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

import bayes_gresub as bg
from benchmarks.tables import write_table

N, POINTS, SIDE = 800, 100, 28
ROUNDS = 5


def images(n: int = N) -> tuple[np.ndarray, np.ndarray]:
    """Return digits blown up to the size of MNIST's, with a little noise: costs do not depend on the images."""
    X, y = bg.datasets.digits().sample(n, random_state=0)
    large = np.kron(X[:, 0], np.ones((1, 4, 4)))[:, 2:30, 2:30]
    noise = np.random.default_rng(0).integers(0, 8, size=large.shape) / 256
    return np.clip(large + noise, 0, 1).astype(np.float32)[:, None], y


def peak() -> float:
    """Return the largest memory of this process so far, in GB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 2**20


def one_estimate() -> list[str]:
    """Return the costs of one Naive-Bayes bolstered estimate; to be run in a process of its own."""
    import torch

    class Timed(torch.nn.Module):
        """A module that adds up the seconds of its forward passes."""

        def __init__(self, inside: torch.nn.Module) -> None:
            super().__init__()
            self.inside, self.seconds = inside, 0.0

        def forward(self, batch: torch.Tensor) -> torch.Tensor:
            started = perf_counter()
            answer: torch.Tensor = self.inside(batch)
            self.seconds += perf_counter() - started
            return answer

    torch.set_num_threads(1)
    X, y = images()
    with threadpool_limits(1):
        module = Timed(bg.paper.LeNet5(max_epochs=5, restarts=0, random_state=0).fit(X, y).module_)
        classifier = bg.TorchClassifier(module, range(10))
        measure = bg.Bolstered(bg.DiagonalGaussian(), n_points=POINTS, random_state=0).fit(X, y)
        classifier.predict(X)
        before = peak()
        rounds = []
        for _ in range(ROUNDS):
            module.seconds = 0.0
            started = perf_counter()
            predicted = measure.error(classifier).computation.n_predicted
            rounds.append((perf_counter() - started, module.seconds))
        extra = peak() - before
    whole, passes = np.median(rounds, axis=0)
    other = np.median([total / inside - 1 for total, inside in rounds])
    return [f"{predicted:,}", f"{whole:.1f} s", f"{passes:.1f} s", f"{other:.0%}", f"{extra:.2f} GB"]


def one_calibration() -> list[str]:
    """Return the price of calibration with one repeat, in estimates for each kappa that it tried."""
    import torch

    torch.set_num_threads(1)
    X, y = images(400)
    rule = bg.paper.LeNet5(max_epochs=20)
    with threadpool_limits(1):
        classifier = bg.paper.LeNet5(max_epochs=20, random_state=0).fit(X, y)
        rows = []
        for search in ("steps", "bisection"):
            measure = bg.Bolstered(bg.DiagonalGaussian(), n_points=16, random_state=0)
            started = perf_counter()
            measure.fit(X, y).error(classifier)
            estimate = perf_counter() - started
            started = perf_counter()
            rule.set_params(random_state=1).fit(X, y)
            training = perf_counter() - started
            calibrated = bg.Calibrated(measure, repeats=1, search=search, random_state=0)
            started = perf_counter()
            calibrated.error(rule, X, y, classifier=classifier)
            total = perf_counter() - started
            steps = len(calibrated.trace_.kappas)
            price = (total - training) / (steps * estimate)
            rows += [search, str(steps), f"{total:.1f} s", f"{training:.1f} s", f"{estimate:.2f} s", f"{price:.2f}"]
    return rows


def main() -> None:
    """Measure both, each in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        row = alone.submit(one_estimate).result()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        calibration = alone.submit(one_calibration).result()
    notes = [
        f"One Naive-Bayes bolstered estimate of LeNet-5, {N} images of {SIDE} x {SIDE}, {POINTS} Monte-Carlo images",
        "each, one thread; the forward passes are timed inside it, batch by batch; medians of five. Everything else,",
        "drawing the images included, is to cost less than 20% of the passes, and less than 1 GB.",
    ]
    header = ["images", "estimate", "forward passes", "everything else", "extra memory"]
    write_table("network", "Networks: one estimate", header, [row], notes)
    header = ["search", "kappas tried", "calibration", "of which one training", "one estimate", "estimates per kappa"]
    notes = [
        "Calibration with r = 1 on 400 images, 16 Monte-Carlo images each. Beyond one training it is to cost at most",
        "two estimates for each kappa tried.",
    ]
    write_table("network_calibration", "Networks: calibration", header, [calibration[:6], calibration[6:]], notes)


if __name__ == "__main__":
    main()
