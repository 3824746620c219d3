"""The paper's reference implementation, driven from a copy that the user has fetched.

None of its code is kept here. The copy is a checkout of github.com/alessandro-fabris/ql4facct,
which brings its own QuaPy; the data come from `quantifair.datasets`.
"""
