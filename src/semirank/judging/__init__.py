"""Measures, folds, and the judge: nearest neighbours in the space that a ranking weights."""
