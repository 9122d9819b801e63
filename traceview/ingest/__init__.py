"""Columns to staging tables to Parquet, with what is derived on the way (`derive/`)."""
