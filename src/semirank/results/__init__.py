"""What comes out: the ranking, the evaluation, and their files."""
