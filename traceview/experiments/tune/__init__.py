"""Tries options on a training command and says which of them make its steps faster."""
