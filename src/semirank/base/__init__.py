"""What all rankers share: parameters, their checks, and the way from X and y to a Ranking."""
