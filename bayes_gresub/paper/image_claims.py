"""What the paper's text claims of its image experiment, and whether a run of it bears that out."""

from __future__ import annotations

from bayes_gresub.paper.claim_tests import Claim, ExperimentRun
from bayes_gresub.paper.image_experiment import HOLD_OUT, RULE, image_estimators, with_hold_out
from bayes_gresub.studies.results import StudyResults

_FORMS = {"as printed": "NB_bolster-11NNpp", "integrated": "NB_bolster-11NNpp (integrated)"}
_CALIBRATED = ("calibrated NB_bolster (r=1)", "calibrated NB_bolster (r=5)")
_PLAIN = ("standard_resub", "NB_bolster", "11NNpp", *_FORMS.values())


def image_claims(results: StudyResults) -> list[Claim]:
    """Return the paper's claims with the evidence of a run of `image_study`; the last two questions are ours."""
    run = ExperimentRun(with_hold_out(results), (*image_estimators(), RULE), "image_study()")
    rules, sizes, smallest = run.rules, run.sizes, run.sizes[:1]
    overcompensated = (
        "the 11-NN posterior-probability and Naive-Bayes bolstered posterior-probability error estimators "
        "overcompensated and are positively biased"
    )
    larger = "with a larger bias in magnitude as well"
    claims_tested = [
        Claim(
            "Naive-Bayes bolstered resubstitution is able to improve on the optimistic bias of resubstitution",
            "NB_bolster: |bias| smaller than resubstitution's",
            run.less("NB_bolster", ["standard_resub"], "absolute_bias", rules, sizes),
        ),
        Claim(overcompensated, "11NNpp: bias above 0", run.bias_above("11NNpp", 0.0, rules, sizes)),
        *(
            Claim(overcompensated, f"NB_bolster-11NNpp, {form}: bias above 0", run.bias_above(name, 0.0, rules, sizes))
            for form, name in _FORMS.items()
        ),
        *(
            Claim(
                larger,
                f"{name}: |bias| larger than NB_bolster's",
                run.more(name, ["NB_bolster"], "absolute_bias", rules, sizes),
            )
            for name in ("11NNpp", *_FORMS.values())
        ),
        Claim(
            "none of the generalized resubstitution estimators are able to match the low variance of plain "
            "resubstitution",
            "standard_resub: deviation variance smaller than that of all others",
            run.less("standard_resub", _PLAIN[1:], "variance", rules, sizes),
        ),
        Claim(
            "the Naive-Bayes bolstered resubstitution displays smaller variance than the others at the small sample "
            "size n=200",
            f"NB_bolster: deviation variance smaller than that of the posterior-probability estimators at the smallest "
            f"n, {smallest[0]}",
            run.less("NB_bolster", _PLAIN[2:], "variance", rules, smallest),
        ),
        Claim(
            "Naive-Bayes bolstered resubstitution turns out to be the best estimator overall",
            "NB_bolster: RMS smaller than that of every other estimator without calibration",
            run.less("NB_bolster", [name for name in _PLAIN if name != "NB_bolster"], "rms", rules, sizes),
        ),
        *(
            Claim(
                "the bias, variance, and RMS of all estimators decrease monotonically with increasing sample size",
                f"{metric.replace('absolute_bias', '|bias|')} of every estimator without calibration smaller at the "
                "next n",
                tuple(evidence for name in _PLAIN for evidence in run.falls(name, metric)),
            )
            for metric in ("absolute_bias", "variance", "rms")
        ),
        *(
            Claim(
                "calibration succeeded into reducing the bias to nearly zero",
                f"{name}: |bias| below 0.02",
                run.unbiased(name, 0.02, rules, sizes),
            )
            for name in _CALIBRATED
        ),
        Claim(
            "it did increase the variance",
            "NB_bolster: deviation variance smaller than that of both calibrated ones",
            run.less("NB_bolster", _CALIBRATED, "variance", rules, sizes),
        ),
        Claim(
            "though much less in the case r=5 than in the case r=1",
            "deviation variance with r=5 smaller than with r=1",
            run.less(_CALIBRATED[1], _CALIBRATED[:1], "variance", rules, sizes),
        ),
        *(
            Claim(
                "they achieve significantly smaller RMS than plain Naive-Bayes bolstered resubstitution",
                f"{name}: RMS smaller than NB_bolster's",
                run.less(name, ["NB_bolster"], "rms", rules, sizes),
            )
            for name in _CALIBRATED
        ),
        *(
            Claim(
                "(ours) is calibration better than the held-out errors that it has on its way?",
                f"{calibrated}: RMS smaller than that of the mean of its held-out errors",
                run.less(calibrated, [name], "rms", rules, sizes),
            )
            for name, calibrated in HOLD_OUT.items()
        ),
    ]
    return claims_tested
