"""Methods beyond msopt's own: the conic program and users' functions.

Whoever imports anything from here finds method `convex` in the table of `msopt.methods`.
"""

from reports.methods import convex as convex
from reports.methods.conic_needs import CONVEX as CONVEX
