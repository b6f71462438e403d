"""Names of the estimators that are only there for comparison with the paper: its formulas on features as given."""

from __future__ import annotations

from bayes_gresub.registry import made, register

register(
    "bolstered-3nn-pp-product",
    "measure",
    "the paper's product form: no measure, strongly optimistic; for comparison",
    made("paper.product_form.ProductForm", posterior=made("posteriors.KNN", k=3)),
    main=False,
)
register(
    "paper-bolstered",
    "measure",
    "bolstered, features as given",
    made("measures.Bolstered", kernel=made("kernels.SphericalGaussian", standardize=None)),
    main=False,
)
register(
    "paper-semi-bolstered",
    "measure",
    "semi-bolstered, features as given",
    made("measures.Bolstered", kernel=made("kernels.SphericalGaussian", standardize=None), semi=True),
    main=False,
)
register(
    "paper-nb-bolstered",
    "measure",
    "nb-bolstered, features as given and ties counted as printed",
    made("measures.Bolstered", kernel=made("kernels.DiagonalGaussian", ties="zero", standardize=None)),
    main=False,
)
register(
    "paper-3nn-pp",
    "measure",
    "3nn-pp, features as given",
    made("measures.PosteriorProbability", posterior=made("posteriors.KNN", k=3, standardize=None)),
    main=False,
)
register(
    "paper-bolstered-3nn-pp",
    "measure",
    "bolstered-3nn-pp (integrated), features as given",
    made(
        "measures.BolsteredPosterior",
        kernel=made("kernels.SphericalGaussian", standardize=None),
        posterior=made("posteriors.KNN", k=3, standardize=None),
    ),
    main=False,
)
register(
    "paper-bolstered-3nn-pp-product",
    "measure",
    "bolstered-3nn-pp as printed: the product form, features as given",
    made(
        "paper.product_form.ProductForm",
        kernel=made("kernels.SphericalGaussian", standardize=None),
        posterior=made("posteriors.KNN", k=3, standardize=None),
    ),
    main=False,
)
