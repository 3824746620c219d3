"""Data to try things on."""

from quantifair.datasets.lender import Lender, simulate_lender

__all__ = ["Lender", "simulate_lender"]
