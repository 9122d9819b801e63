"""Reads published times of algorithms and collectives as rows of a study."""
