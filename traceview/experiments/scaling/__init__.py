"""Runs a training command with more processes and larger batches."""
