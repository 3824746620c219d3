"""The paper's experiments in full: run, stored in benchmarks/results, written to docs."""
