"""Modules that collectors share: they run inside the recorded program, also on old Pythons, without traceview."""
