"""Leave-one-out without refits: one file a family of rules, chosen by the exact type of the rule."""

from bayes_gresub.resampling.shortcuts.left_out import has_shortcut, left_out
from bayes_gresub.resampling.shortcuts.left_out_labels import LeftOut
from bayes_gresub.resampling.shortcuts.refusals import NoShortcutError

__all__ = ["LeftOut", "NoShortcutError", "has_shortcut", "left_out"]
