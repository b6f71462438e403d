"""The public names of the part about the paper; `__init__.py` loads them when they are first used."""

from .image_experiment import image_study, noisy_images
from .large_samples import approach, large_sample_study, vc_bound
from .lenet import LeNet5
from .mnist_files import load_mnist, mnist
from .product_form import ProductForm
from .synthetic_experiment import ours, published, rules, synthetic_study

__all__ = [
    "LeNet5",
    "ProductForm",
    "approach",
    "image_study",
    "large_sample_study",
    "load_mnist",
    "mnist",
    "noisy_images",
    "ours",
    "published",
    "rules",
    "synthetic_study",
    "vc_bound",
]
