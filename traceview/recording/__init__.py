"""Work of `traceview collect` around a command."""
