"""Run the benchmarks: all, or those named, such as speed, draws or shortcuts; an unknown name lists them."""

from __future__ import annotations

import sys

from threadpoolctl import threadpool_limits

from benchmarks import (
    assess_speed,
    bayesian,
    draws,
    gaussian_process,
    network,
    sampler,
    scale,
    selection,
    shortcuts,
    speed,
    studies,
)

BENCHMARKS = {
    "speed": speed.main,
    "assess_speed": assess_speed.main,
    "sampler": sampler.main,
    "scale": scale.main,
    "selection": selection.main,
    "studies": studies.main,
    "bayesian": bayesian.main,
    "draws": draws.main,
    "shortcuts": shortcuts.main,
    "gp": gaussian_process.main,
    "network": network.main,
}


def main() -> None:
    """Run the benchmarks named, all by default, each on one thread."""
    names = sys.argv[1:] or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        sys.exit(f"unknown benchmark {unknown}; the names are {', '.join(BENCHMARKS)}")
    with threadpool_limits(1):
        for name in names:
            BENCHMARKS[name]()


if __name__ == "__main__":
    main()
