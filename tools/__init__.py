"""Tools that are not tests: fuzzing, faults, mutants, and environments."""
