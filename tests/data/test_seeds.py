"""Seeds: which random states give the same streams, and that asking for a stream changes nothing."""

import numpy as np
import pytest

from bayes_gresub.data.seeds import child, seed_sequence


def numbers(seed):
    return np.random.default_rng(seed).random(4).tolist()


def test_children_differ_from_each_other_and_from_their_parent():
    parent = seed_sequence(7)
    streams = [parent, child(parent, 0), child(parent, 1), child(parent, 0, 1), child(parent, 1, 0)]
    assert len({tuple(numbers(stream)) for stream in streams}) == len(streams)


def test_the_same_child_is_the_same_stream():
    parent = seed_sequence(7)
    assert numbers(child(parent, 2)) == numbers(child(parent, 2))


def test_child_is_none_of_those_that_a_user_spawns():
    parent = np.random.SeedSequence(7)
    ours = numbers(child(parent, 0))
    assert ours not in [numbers(spawned) for spawned in parent.spawn(5)]


def test_children_of_different_seeds_differ():
    assert numbers(child(seed_sequence(1), 0)) != numbers(child(seed_sequence(2), 0))


def test_naming_a_child_does_not_change_the_parent():
    parent = np.random.SeedSequence(7)
    child(parent, 0)
    assert (parent.n_children_spawned, parent.spawn_key) == (0, ())


def test_same_child_of_different_spawned_sequences_differs():
    first, second = np.random.SeedSequence(7).spawn(2)
    assert numbers(child(first, 1)) != numbers(child(second, 1))


@pytest.mark.parametrize("number", [0, 7, np.int64(7), np.uint8(7), 2**70])
def test_int_and_seed_sequence_of_it_give_the_same_stream(number):
    assert numbers(seed_sequence(number)) == numbers(seed_sequence(np.random.SeedSequence(int(number))))


def test_seed_sequence_is_handed_back():
    sequence = np.random.SeedSequence(7)
    assert seed_sequence(sequence) is sequence


def test_generator_is_advanced():
    rng = np.random.default_rng(0)
    assert numbers(seed_sequence(rng)) != numbers(seed_sequence(rng))


def test_generators_in_the_same_state_give_the_same_stream():
    one, same = (seed_sequence(np.random.default_rng(3)) for _ in range(2))
    assert numbers(one) == numbers(same)


def test_none_gives_fresh_streams():
    assert numbers(seed_sequence(None)) != numbers(seed_sequence(None))


def test_children_of_a_fresh_stream_are_reproducible_from_it():
    parent = seed_sequence(None)
    assert numbers(child(parent, 1)) == numbers(child(parent, 1))


@pytest.mark.parametrize("value", [-1, 1.0, True, "7", np.random.RandomState(0), [1, 2]])
def test_what_is_no_random_state_is_refused(value):
    with pytest.raises(ValueError, match=r"random_state must be a non-negative int.*Pass an int for reproducible"):
        seed_sequence(value)
