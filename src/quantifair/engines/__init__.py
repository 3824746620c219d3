"""Engines: each feeds blocks of a table to one function and adds up the sketches."""
