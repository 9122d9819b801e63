"""Computes and measures convolutions in the Python of the user: with torch, without anything else of traceview."""
