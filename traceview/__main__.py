"""`python -m traceview` is `traceview`."""

import sys

from traceview.cli import main

if __name__ == "__main__":
    sys.exit(main())
