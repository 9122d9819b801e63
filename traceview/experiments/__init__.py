"""Runs a command or a layer repeatedly under different options and reports the result."""
