"""Benchmarks: figures are printed, never asserted."""
