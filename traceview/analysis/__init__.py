"""Runs the query folders: reports, advice, comparisons; answers are plain data."""
