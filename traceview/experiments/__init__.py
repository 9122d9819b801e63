"""Runs a command or a layer many times, under different options, and says what came of it."""
