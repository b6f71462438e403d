"""The suite covers the paper's estimators too: importing this part registers them."""

import bayes_gresub.paper  # noqa: F401
