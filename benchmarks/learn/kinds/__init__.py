"""The kinds of populations, each of which can be held out whole."""

from benchmarks.learn.kind import Kind
from benchmarks.learn.kinds.checkerboard import draw_checkerboard
from benchmarks.learn.kinds.curves import draw_beside, draw_curves
from benchmarks.learn.kinds.discrete import draw_discrete
from benchmarks.learn.kinds.gaussian import draw_equal_covariances, draw_unequal_covariances
from benchmarks.learn.kinds.heavy_tailed import draw_heavy_tailed
from benchmarks.learn.kinds.logistic import draw_logistic
from benchmarks.learn.kinds.manifold import draw_hidden, draw_surface
from benchmarks.learn.kinds.mixture import draw_mixture
from benchmarks.learn.kinds.network import draw_network
from benchmarks.learn.kinds.ordinal import draw_ordinal
from benchmarks.learn.kinds.parity import draw_parity
from benchmarks.learn.kinds.prototypes import draw_prototypes
from benchmarks.learn.kinds.shell import draw_directions, draw_shells
from benchmarks.learn.kinds.skewed import draw_skewed
from benchmarks.learn.kinds.tree import draw_tree

KINDS = {
    kind.name: kind
    for kind in [
        Kind("gaussian-equal", draw_equal_covariances),
        Kind("gaussian-unequal", draw_unequal_covariances),
        Kind("mixture", draw_mixture),
        Kind("shell", draw_shells, draw_directions),
        Kind("curves", draw_curves, draw_beside),
        Kind("checkerboard", draw_checkerboard),
        Kind("tree", draw_tree),
        Kind("network", draw_network),
        Kind("logistic", draw_logistic),
        Kind("prototypes", draw_prototypes),
        Kind("ordinal", draw_ordinal),
        Kind("discrete", draw_discrete),
        Kind("heavy-tailed", draw_heavy_tailed),
        Kind("skewed", draw_skewed),
        Kind("manifold", draw_hidden, draw_surface),
        Kind("parity", draw_parity),
    ]
}
