"""Runs the same models in every framework and compares them."""
