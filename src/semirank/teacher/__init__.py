"""The teacher: predicts the target of every row from the labelled ones, by members of different kinds."""
