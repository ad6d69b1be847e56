"""How good rankings are, and what unlabelled rows are worth."""
