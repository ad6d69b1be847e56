"""Distances between rows and between targets, and the search for nearest rows."""
