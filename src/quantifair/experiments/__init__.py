"""The experiments of the paper: protocols, one runner, tables and figures."""
