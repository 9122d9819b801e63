"""Bytes to columns, knowing no table of ours: JSON events, protobuf messages, SQLite, Arrow, text."""
