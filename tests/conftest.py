"""What holds for all tests: one thread a process, the paper's names registered, the longest files first."""

import os

# Set before NumPy and torch are imported, and inherited by workers, kernels and subprocesses. Threads that wait for
# each other on busy cores make small matrices some ten times slower.
for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

# Tests over the registry then see the same names, whichever files are run with them.
import bayes_gresub.paper  # noqa: E402, F401

# Begun first, so that no worker is left with one of them when the other has nothing more to do.
LONGEST_FIRST = ["README.md", "test_notebooks.py", "test_nuts.py", "test_numbers_stay.py", "test_bayesian.py"]


def pytest_collection_modifyitems(items):
    """Put the longest files first; `--dist loadfile --no-loadscope-reorder` hands files out in this order."""
    place = {name: i for i, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: place.get(item.path.name, len(place)))
