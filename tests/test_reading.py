"""A call can be followed in few functions and files; benchmarks/reading.py counts them."""

import pytest

from benchmarks.reading import LIMITS, calls, count


@pytest.mark.parametrize("name", LIMITS)
def test_a_call_is_followed_in_few_functions_and_files(name):
    _, call = calls()[name]
    functions, n_files = count(call)
    most_functions, most_files = LIMITS[name]
    assert len(functions) <= most_functions
    assert n_files <= most_files
