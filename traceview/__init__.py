"""traceview: any profiler trace as the same few tables, queried with DuckDB SQL."""

from __future__ import annotations

__version__ = "0.1.0"
