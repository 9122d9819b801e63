"""What `traceview collect` does around a command."""
