"""The assumption of prior shift: what is summed to test it, and what the tests say."""
