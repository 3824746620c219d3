"""The experiments of the paper, on the core."""
