"""Carries a planned run through: work, workers, sealing; the run verbs alone use it."""
