"""The teacher: predicts the target of every row from the labelled ones (Def. 1.10)."""
