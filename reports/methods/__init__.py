"""Methods beyond msopt's own: the conic program and users' functions.

Whoever imports anything from here finds method `convex` in the table of `msopt.methods`.
"""

from reports.methods.convex import CONVEX as CONVEX
