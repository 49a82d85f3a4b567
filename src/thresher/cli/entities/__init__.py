"""The commands find, fit, eval and distill."""
