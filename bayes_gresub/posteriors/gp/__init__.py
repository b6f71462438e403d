"""Latent Gaussian processes behind class probabilities: kernels, the softmax, two approximations, their evidence."""
