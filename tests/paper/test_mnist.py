"""Images from idx files: whole files are read, others are refused with what to download and where to put it."""

import gzip
import struct

import numpy as np
import pytest

import bayes_gresub as bg
from bayes_gresub.paper.mnist_files import FOLDER_VARIABLE


def idx(array):
    header = struct.pack(f">{1 + array.ndim}I", 0x0800 + array.ndim, *array.shape)
    return header + array.astype(np.uint8).tobytes()


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    images, labels = rng.integers(256, size=(40, 28, 28)), np.arange(40) % 10
    for part in ("train", "t10k"):
        (tmp_path / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images)))
        (tmp_path / f"{part}-labels-idx1-ubyte").write_bytes(idx(labels))
    return tmp_path, images, labels


@pytest.mark.parametrize("part", ["train", "test"])
def test_packed_and_plain_files_are_read(folder, part):
    path, images, labels = folder
    found = bg.paper.load_mnist(path, part)
    np.testing.assert_array_equal(found[0], images)
    np.testing.assert_array_equal(found[1], labels)


def test_folder_comes_from_the_environment(folder, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder[0]))
    assert bg.paper.load_mnist()[0].shape == (40, 28, 28)


def test_other_spelling_of_mirrors(folder):
    path, _, labels = folder
    (path / "train-labels-idx1-ubyte").rename(path / "train-labels.idx1-ubyte")
    np.testing.assert_array_equal(bg.paper.load_mnist(path)[1], labels)


def test_population_has_grey_values_from_0_to_1(folder):
    path, images, _ = folder
    population = bg.paper.mnist(path)
    X, y, rest = population.draw(10, 0)
    assert (X.shape, X.dtype, len(population), y.dtype.kind) == ((10, 1, 28, 28), np.float32, 40, "i")
    assert 0 <= X.min() < X.max() <= 1
    assert (images.reshape(40, -1) == np.round(X[0].ravel() * 255)).all(axis=1).any()
    assert len(rest.rows) == 30


def test_digits_are_those_of_scikit_learn():
    from sklearn.datasets import load_digits

    X, y, rest = bg.datasets.digits().draw(100, 0)
    right, labels = load_digits(return_X_y=True)
    assert len(rest.rows) == 1697
    row = int(np.flatnonzero((right == np.round(X[0].ravel() * 16)).all(axis=1))[0])
    assert labels[row] == y[0]


class TestBadFiles:
    """What is missing or damaged."""

    def test_no_folder(self, monkeypatch):
        monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
        with pytest.raises(FileNotFoundError, match=r"no folder .* was named. Download train-images-idx3-ubyte.gz.*"):
            bg.paper.load_mnist()

    def test_missing_file(self, folder):
        (folder[0] / "train-images-idx3-ubyte.gz").unlink()
        with pytest.raises(FileNotFoundError, match=r"lacks train-images-idx3-ubyte.gz. Download .* put them into one"):
            bg.paper.load_mnist(folder[0])

    @pytest.mark.parametrize(
        "damage",
        [
            lambda content: content[:-100],
            lambda content: content[:9],
            lambda content: b"",
            lambda content: content[:40] + bytes([content[40] ^ 255]) + content[41:],
            lambda content: b"<html>not found</html>",
            lambda content: gzip.compress(gzip.decompress(content)[:-1]),
            lambda content: gzip.compress(b"\0\0\x08\x01" + gzip.decompress(content)[4:]),
        ],
        ids=["cut", "head", "empty", "bit", "page", "short", "magic"],
    )
    def test_damaged_file(self, folder, damage):
        path = folder[0] / "train-images-idx3-ubyte.gz"
        path.write_bytes(damage(path.read_bytes()))
        with pytest.raises(ValueError, match=r"train-images-idx3-ubyte.gz is not a whole idx file .* Download"):
            bg.paper.load_mnist(folder[0])

    def test_files_that_do_not_fit_together(self, folder):
        (folder[0] / "train-labels-idx1-ubyte").write_bytes(idx(np.arange(39) % 10))
        with pytest.raises(ValueError, match=r"do not fit together: 40 images .* 39 labels"):
            bg.paper.load_mnist(folder[0])

    def test_part(self, folder):
        with pytest.raises(ValueError, match="part must be 'train' or 'test'; got 'all'"):
            bg.paper.load_mnist(folder[0], "all")
