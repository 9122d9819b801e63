"""One verb per file: `HELP`, `EXAMPLES`, `configure(parser)`, `run(args) -> exit code`."""
