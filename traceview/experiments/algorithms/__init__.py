"""Measures every algorithm of every convolution of given layers."""
