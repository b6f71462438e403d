"""What holds for all tests: one thread each, since the workers of xdist share the cores."""

import os

# Set before NumPy and torch are imported, and inherited by workers, kernels and subprocesses. Threads that wait for
# each other on busy cores make small matrices some ten times slower.
for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")
